"""What a build of virtual documents depends on beside the notebook."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from jupyter_lsp_agent.notebook.advice import Guard
from jupyter_lsp_agent.notebook.beside_modules import BesideModules
from jupyter_lsp_agent.notebook.cell_translation import MagicOptions


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Settings, and facts that only the caller can find out.

    Attributes:
        kernel_names: names that the platform or IPython's start-up files give (`spark`).
        python_cell_magics: cell magics, without `%%`, whose body is Python in the notebook's namespace.
        python_version: the kernel's (major, minor); `None`: as the notebook has it, else ours.
        guards: statements that a server takes for the last to run (`relocate` finds them).
        missing_modules: top-level names of modules that a server resolves and a kernel does not (folders without
            Python).
        run_names: argument of `%run`, as written → the names that it binds; `None` or no entry: it cannot be read.
        written_modules: argument of `%%writefile`, as written → dotted names of modules that it may make, and that are
            nowhere as long as it has not run.
        beside: modules in the notebook's folder that servers would take for another of that name.
        opaque_modules: dotted names of modules that a kernel loads and no server can read, compiled ones above all.
        elsewhere_modules: top-level names of modules that lie in folders which the notebook itself has looked through.
    """

    kernel_names: frozenset[str] = frozenset()
    python_cell_magics: frozenset[str] = frozenset()
    python_version: tuple[int, int] | None = None
    guards: frozenset[Guard] = frozenset()
    missing_modules: frozenset[str] = frozenset()
    run_names: Mapping[str, frozenset[str] | None] = field(default_factory=dict, hash=False)
    written_modules: Mapping[str, frozenset[str]] = field(default_factory=dict, hash=False)
    beside: BesideModules = field(default_factory=BesideModules)
    opaque_modules: frozenset[str] = frozenset()
    elsewhere_modules: frozenset[str] = frozenset()

    @property
    def magics(self) -> MagicOptions:
        """The part that translation depends on."""
        return MagicOptions(python_cell_magics=self.python_cell_magics, python_version=self.python_version)
