"""One plain file, checked: the text as it is, asked about, no map between."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from jupyter_lsp_agent.core.diagnostic import Diagnostic
from jupyter_lsp_agent.core.ids import LanguageId, ServerId
from jupyter_lsp_agent.diagnostics.baseline import ChainId, Judge
from jupyter_lsp_agent.diagnostics.facts import ChainFailure
from jupyter_lsp_agent.diagnostics.merge import merge_diagnostics
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, ServerReport
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.service.asking import Asker, ChainAnswer
from jupyter_lsp_agent.service.chain_calls import ChainSilence, Question, Waits
from jupyter_lsp_agent.service.chains import chain_name, choose_chains
from jupyter_lsp_agent.service.documents import UncheckableError
from jupyter_lsp_agent.service.places import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTask:
    """A plain file to be checked, and under which circumstances; see `NotebookTask`."""

    place: Place
    text: str = field(repr=False)
    language: LanguageId
    interpreter: Interpreter
    server: ServerId | None = None
    waits: Waits = field(default_factory=Waits)
    closes: bool = False


@dataclass(frozen=True, slots=True)
class TextOutcome:
    """What came of asking about a plain file; see `Outcome`."""

    findings: tuple[Diagnostic, ...]
    servers: tuple[ServerReport, ...]
    failures: tuple[ChainFailure, ...]
    chains: Mapping[ChainId, Judge | None]
    chain_of: Mapping[Diagnostic, ChainId]


def text_language(place: Place) -> LanguageId:
    """The language of a plain file, by its name.

    Raises:
        UncheckableError: no server takes such files.
    """
    language = place.registry.language_of(PurePath(place.path.name))
    if language is None:
        raise UncheckableError(
            NoVerdictReason.UNSUPPORTED_LANGUAGE,
            f"no known server takes files like {place.path.name}; `jupyter lsp-agent status` lists those known",
        )
    return LanguageId(language)


async def check_text(task: TextTask, asker: Asker) -> TextOutcome:
    """Ask every chain of the file's language about it.

    Raises:
        UncheckableError: nobody can be asked.
    """
    chains = choose_chains(task.place, task.language, task.server)
    interpreter = task.interpreter
    questions = [
        Question(
            place=task.place,
            path=task.place.path,
            text=task.text,
            language=task.language,
            chain=chain,
            interpreter=interpreter,
            waits=task.waits,
            closes=task.closes,
        )
        for chain in chains
    ]
    answers = await asyncio.gather(*(asker.ask(question) for question in questions))
    named = [(chain_name(task.language, number), answer) for number, answer in enumerate(answers)]
    return TextOutcome(
        merge_diagnostics(answer.diagnostics for answer in answers if isinstance(answer, ChainAnswer)),
        tuple(server for answer in answers for server in answer.servers),
        tuple(answer.failure for answer in answers if isinstance(answer, ChainSilence)),
        {name: answer.judge if isinstance(answer, ChainAnswer) else None for name, answer in named},
        dict(_given(named)),
    )


def _given(named: Sequence[tuple[ChainId, ChainAnswer | ChainSilence]]) -> Iterator[tuple[Diagnostic, ChainId]]:
    """Each finding with the first chain that gave it."""
    for name, answer in reversed(named):
        if isinstance(answer, ChainAnswer):
            yield from ((found, name) for found in answer.diagnostics)
