"""Who is to be asked about a language, and the sentence where nobody can be."""

import json

from jupyter_lsp_agent.core.errors import ServerNotFoundError, SettingsError
from jupyter_lsp_agent.core.ids import LanguageId, ServerId
from jupyter_lsp_agent.core.printable import one_line
from jupyter_lsp_agent.diagnostics.baseline import ChainId
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason
from jupyter_lsp_agent.notebook.languages import display_name
from jupyter_lsp_agent.servers.commands import install_advice, resolve_command
from jupyter_lsp_agent.servers.spec import ServerSpec
from jupyter_lsp_agent.service.chain_calls import Chain
from jupyter_lsp_agent.service.documents import UncheckableError
from jupyter_lsp_agent.service.places import Place

_MAX_TITLE_CHARACTERS = 60


def language_title(language: str) -> str:
    """A language as a sentence names it; a notebook may call its own whatever it likes."""
    return one_line(display_name(LanguageId(language)), _MAX_TITLE_CHARACTERS)


def choose_chains(place: Place, language: LanguageId, server: ServerId | None) -> tuple[Chain, ...]:
    """The chains that are asked about `language`; never empty.

    Args:
        place: of the document.
        language: its language.
        server: this server alone, without fallback.

    Raises:
        UncheckableError: there is nobody to ask.
    """
    if server is not None:
        return ((_only(place, language, server),),)
    chains = place.registry.chains(language)
    if chains:
        return chains
    name = language_title(language)
    if place.registry.is_known(language):
        raise UncheckableError(
            NoVerdictReason.DISABLED, f"every server for {name} is switched off; enable one in `server_settings`"
        )
    known = place.registry.language(language)
    by_choice = next((spec for spec in place.registry if spec.takes(known)), None)
    raise UncheckableError(
        NoVerdictReason.UNSUPPORTED_LANGUAGE,
        f"no server for {name} is known; `jupyter lsp-agent status` lists those known"
        if by_choice is None
        else _how_to_choose(place, by_choice, known),
    )


def _how_to_choose(place: Place, spec: ServerSpec, language: str) -> str:
    """How to have a server asked that is in no chain by itself, and how to get it where it is not there."""
    setting = json.dumps({language: [spec.server_id]})
    said = f"{spec.title} is asked about {language_title(language)} only where the setting `servers` says {setting}"
    return said if _is_installed(place, spec) else f"{said}, and is not installed; {install_advice(spec)}"


def chain_name(language: str, number: int) -> ChainId:
    """How a chain is told from the others of a document: by its language and its place among that one's chains."""
    return ChainId(f"{language}/{number}")


def _only(place: Place, language: LanguageId, server: ServerId) -> ServerSpec:
    try:
        spec = place.registry.get(server)
    except SettingsError as error:
        raise UncheckableError(NoVerdictReason.NOT_INSTALLED, str(error)) from None
    if not spec.takes(place.registry.language(language)):
        raise UncheckableError(
            NoVerdictReason.UNSUPPORTED_LANGUAGE,
            f"{spec.title} does not speak {language_title(language)}; leave `--server` out to ask one that does",
        )
    if not place.registry.override(spec.server_id).enabled:
        raise UncheckableError(
            NoVerdictReason.DISABLED, f"{spec.title} is switched off; enable it in `server_settings`"
        )
    return spec


def _is_installed(place: Place, spec: ServerSpec) -> bool:
    try:
        resolve_command(spec, place.search, override=place.registry.override(spec.server_id))
    except ServerNotFoundError:
        return False
    return True
