"""The verdict of a real language server on a Jupyter notebook: per cell, and only what is new.

```python
from jupyter_lsp_agent import check_notebook

report = check_notebook("analysis.ipynb")
if report:
    print(report.to_text())
```

The names below are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from jupyter_lsp_agent._version import __version__

if TYPE_CHECKING:
    from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
    from jupyter_lsp_agent.core.errors import JupyterLspAgentError, SettingsError
    from jupyter_lsp_agent.diagnostics.report import (
        CellReport,
        Counts,
        NoVerdictReason,
        Report,
        ReportedDiagnostic,
        ServerReport,
        Status,
        Unchecked,
        Verdict,
    )
    from jupyter_lsp_agent.frontends.python import (
        CheckOptions,
        QueryOptions,
        async_check_notebook,
        async_query_notebook,
        check_notebook,
        query_notebook,
    )
    from jupyter_lsp_agent.navigation.answer import QueryAnswer

__all__ = [
    "CellReport",
    "CheckOptions",
    "Counts",
    "DiagnosticSeverity",
    "JupyterLspAgentError",
    "NoVerdictReason",
    "QueryAnswer",
    "QueryOptions",
    "Report",
    "ReportedDiagnostic",
    "ServerReport",
    "SettingsError",
    "Status",
    "Unchecked",
    "Verdict",
    "__version__",
    "async_check_notebook",
    "async_query_notebook",
    "check_notebook",
    "query_notebook",
]

_MODULES = {
    "core.diagnostic": ("DiagnosticSeverity",),
    "core.errors": ("JupyterLspAgentError", "SettingsError"),
    "diagnostics.report": (
        "CellReport",
        "Counts",
        "NoVerdictReason",
        "Report",
        "ReportedDiagnostic",
        "ServerReport",
        "Status",
        "Unchecked",
        "Verdict",
    ),
    "frontends.python": (
        "CheckOptions",
        "QueryOptions",
        "async_check_notebook",
        "async_query_notebook",
        "check_notebook",
        "query_notebook",
    ),
    "navigation.answer": ("QueryAnswer",),
}
_HOMES = {name: f"{__name__}.{module}" for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _jupyter_server_extension_points() -> list[dict[str, object]]:
    """Tell a Jupyter server of the extension. The application is imported here, so that only a server pays for it."""
    from jupyter_lsp_agent.frontends.server_extension.app import LspAgentApp

    return [{"module": __name__, "app": LspAgentApp}]


def load_ipython_extension(ipython: object) -> None:
    """`%load_ext jupyter_lsp_agent`: add `%lsp_check` to a shell."""
    from jupyter_lsp_agent.frontends.magic.extension import load

    load(ipython)


def unload_ipython_extension(ipython: object) -> None:
    """`%unload_ext jupyter_lsp_agent`: take it away again, and stop what it started."""
    from jupyter_lsp_agent.frontends.magic.extension import unload

    unload(ipython)
