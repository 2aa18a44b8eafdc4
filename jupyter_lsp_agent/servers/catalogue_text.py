"""The catalogue as a page for people: `python -m jupyter_lsp_agent.servers.catalogue_text docs/SERVERS.md`.

What stands on the page below the catalogue, the table of a run of all servers, stays.
"""

import sys
from pathlib import Path

from jupyter_lsp_agent.servers.registry import ServerRegistry
from jupyter_lsp_agent.servers.spec import InstallRecipe, ServerSpec

RUN_TITLE = "## A run of all"
"""Where the page goes on with what is not made from the catalogue."""

_HEAD = """\
# Language servers

Made from `jupyter_lsp_agent/servers/catalogue.toml` by
`python -m jupyter_lsp_agent.servers.catalogue_text docs/SERVERS.md`; change the catalogue, not this page.
Below it is what a run of all proven servers showed.

- **Asked** is the server's place in its languages' default chains: within a chain, the first that can be had speaks.
  `opt-in`: in no chain, unless `servers` puts it there.
- **Trust**: `yes` means that it runs programs of the workspace (build scripts, plugins, configuration that is a
  program), and is started only below `trusted_roots`.
- **Install**: what `jupyter lsp-agent install ID` installs, or what to do by hand.
- **Evidence**: the version that was run by the tests; `unproven`: taken from elsewhere, and not run.

How servers come onto a machine: [INSTALLING.md](INSTALLING.md). What a workspace cannot make them run:
[SECURITY.md](SECURITY.md).

| id | server | languages | asked | trust | install | evidence |
|---|---|---|---|---|---|---|
"""


def render_catalogue(registry: ServerRegistry) -> str:
    """The page, in Markdown."""
    return _HEAD + "".join(f"| {' | '.join(_row(registry, spec))} |\n" for spec in registry)


def _row(registry: ServerRegistry, spec: ServerSpec) -> tuple[str, ...]:
    names = f"`{spec.server_id}`" + "".join(f", `{alias}`" for alias in spec.aliases)
    trust = "yes" if spec.runs_workspace_programs else ""
    evidence = spec.evidence if spec.proven else "unproven"
    return names, spec.title, ", ".join(spec.languages), _places(registry, spec), trust, _install(spec), evidence


def _places(registry: ServerRegistry, spec: ServerSpec) -> str:
    places = {
        str(chain.index(spec) + 1)
        for language in spec.languages
        for chain in registry.chains(language)
        if spec in chain
    }
    return ", ".join(sorted(places)) or "opt-in"


def _install(spec: ServerSpec) -> str:
    needs = f"; needs {', '.join(f'`{need}`' for need in spec.needs)}" if spec.needs else ""
    return _recipe(spec.install).replace("|", "\\|") + needs


def _recipe(recipe: InstallRecipe) -> str:
    packages = [*(f"PyPI `{one}`" for one in recipe.pypi), *(f"npm `{one}`" for one in recipe.npm)]
    return ", ".join(packages) or recipe.hint


def renew_page(page: Path, registry: ServerRegistry) -> None:
    """Write the catalogue into its page; what stands below it stays."""
    _, title, kept = page.read_text(encoding="utf-8").partition(RUN_TITLE)
    page.write_text(f"{render_catalogue(registry)}\n{title}{kept}", encoding="utf-8")


if __name__ == "__main__":
    renew_page(Path(sys.argv[1]), ServerRegistry())
