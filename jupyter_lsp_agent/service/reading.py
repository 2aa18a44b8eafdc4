"""What may be looked at, and what was stored as a notebook: the first steps of every question about a document."""

from jupyter_lsp_agent.core.errors import NotebookError
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason
from jupyter_lsp_agent.notebook.model import Notebook
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.service.documents import StoredDocument, UncheckableError
from jupyter_lsp_agent.service.places import Place, is_excluded

MAX_CELLS = 10_000
"""A notebook with more cells is not looked at."""


def parse_notebook(stored: StoredDocument) -> Notebook:
    """The notebook that is stored.

    Raises:
        UncheckableError: it is none, or has too many cells.
    """
    try:
        notebook = read_notebook(stored.data, stored.path.name)
    except NotebookError as error:
        raise UncheckableError(NoVerdictReason.UNREADABLE, str(error)) from None
    if len(notebook.cells) > MAX_CELLS:
        raise UncheckableError(
            NoVerdictReason.TOO_LARGE,
            f"{stored.path.name} has {len(notebook.cells)} cells, and {MAX_CELLS} are the most; split it",
        )
    return notebook


def require_allowed(place: Place, *, is_enabled_elsewhere: bool) -> None:
    """Make sure that the settings let a document be looked at.

    Raises:
        UncheckableError: they do not.
    """
    if not place.settings.enabled:
        where = "by this workspace's pyproject.toml" if is_enabled_elsewhere else "in the settings"
        raise UncheckableError(NoVerdictReason.DISABLED, f"checking is switched off {where}; set `enabled` to true")
    if is_excluded(place.path, place.boundary, place.settings.exclude):
        raise UncheckableError(
            NoVerdictReason.DISABLED,
            f"{place.path.name} is left out by the setting `exclude`; change it to have it checked",
        )
