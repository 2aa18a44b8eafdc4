"""What a kernel ran, beside what a notebook holds: the kernel's history as a document, and where the two differ.

Pure functions over bytes and frozen values. A kernel knows sources, and cell ids where its client sends them; a file
has cells, and ids where its format has them. Ids come first, then equal sources.
"""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_lsp_agent.core.errors import InvalidRequestError, JupyterLspAgentError
from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.diagnostics.hashes import notebook_hash
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.cell_refs import CellNames
from jupyter_lsp_agent.notebook.hidden_state import ExecutedCell, HiddenState, find_hidden_state, user_names
from jupyter_lsp_agent.notebook.model import CellKind, Notebook
from jupyter_lsp_agent.notebook.name_flow import name_flow
from jupyter_lsp_agent.notebook.python_syntax import is_name
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.service.execution import Execution, latest_ends
from jupyter_lsp_agent.service.new_cells import NewCells
from jupyter_lsp_agent.service.ran_cells import RanCells, as_recorded, is_stored_id
from jupyter_lsp_agent.service.settings import Settings

_UNJUDGED_TAG = "skip-lsp-check"
"""On inputs of a terminal that failed: what they define counts, and what is wrong with them was told there and then."""

_OWN_MAGICS = ("%lsp_check", "%%lsp_check", "%load_ext jupyter_lsp_agent", "%reload_ext jupyter_lsp_agent")
_OLDEST_MAJOR = 4
_WITH_IDS = (4, 5)


@dataclass(frozen=True, slots=True)
class KernelDocument:
    """The content of a notebook, as the kernel's side sees it.

    Attributes:
        notebook: the content, read.
        data: the content's bytes.
        name: for messages.
    """

    notebook: Notebook
    data: bytes = field(repr=False)
    name: str

    @property
    def content_hash(self) -> str:
        """The name of the content, as reports give it."""
        return notebook_hash(self.notebook.cells)


def open_document(data: bytes, name: str) -> KernelDocument:
    """A notebook's bytes, read.

    Raises:
        NotebookError: they are no notebook.
    """
    return KernelDocument(read_notebook(data, name), data, name)


def listed_document(
    listing: Iterable[dict[str, object]], stored: bytes | None, name: str, kernel: str
) -> KernelDocument:
    """The notebook whose cells a Jupyter server lists (`GET cells`), with the metadata of the stored one.

    Args:
        listing: the cells as the server gives them.
        stored: the file's bytes, where there is a file.
        name: for messages.
        kernel: the kernelspec's name.
    """
    metadata = {cell["id"]: cell.get("metadata", {}) for cell in _stored_cells(stored) if cell.get("id")}
    cells = [_listed_cell(cell, metadata) for cell in listing]
    return _made_document(cells, name, kernelspec={"name": kernel})


def history_document(
    executed: Sequence[Execution], failed: Collection[int] = (), *, is_asking: bool = False
) -> KernelDocument:
    """What ran, as a notebook: the cell at index N is input N, and 0 is empty, as IPython's `In[0]` is.

    Of a cell that ran several times the last version stands where it ran first, since what stands between may use it.

    Args:
        executed: what ran, in order.
        failed: numbers of inputs that are not judged; what they define counts nevertheless.
        is_asking: the last input is a `%%lsp_check` that asks now. Earlier ones did not run, so they are no inputs.
    """
    ran = [cell for cell in executed[: len(executed) - is_asking] if not _is_only_checked(cell.source)]
    executed = [*ran, *executed[len(executed) - is_asking :]]
    last = {cell.execution_count: cell for cell in executed}
    first_of: dict[str, int] = {}
    sources: dict[int, Execution] = {}
    for cell in last.values():
        key = f"id {cell.cell_id}" if cell.cell_id else f"source {cell.source}"
        sources[first_of.setdefault(key, cell.execution_count)] = cell
    size = max(sources, default=0) + 1
    cells = [_history_cell(sources.get(number), is_judged=number not in failed) for number in range(size)]
    return _made_document(cells, "history.ipynb")


def _made_document(cells: Sequence[dict[str, object]], name: str, **metadata: object) -> KernelDocument:
    """A Python notebook of `cells`."""
    about = {**metadata, "language_info": {"name": "python"}}
    content = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return open_document(json.dumps(content).encode("ascii"), name)


def resembles(document: KernelDocument, executed: Sequence[Execution]) -> bool:
    """Whether a notebook may be a kernel's: it holds something that ran, or nothing speaks against it."""
    ids, sources = _ids_and_sources(document.notebook)
    others = [cell for cell in executed if not is_own_magic(cell.source)]
    is_untouched = not any(source.strip() for source in sources)
    return (
        is_untouched or not others or any(cell.cell_id in ids or as_recorded(cell.source) in sources for cell in others)
    )


def with_cell(
    document: KernelDocument, cell_id: str | None, ran: str, source: str, executed: Sequence[Execution] = ()
) -> tuple[bytes, int]:
    """The notebook with one cell's newest text, and the cell's index; a cell that it does not hold comes to its end.

    Args:
        document: the notebook.
        cell_id: the cell's id, where the client sends it.
        ran: the cell's whole text as it ran.
        source: what stands for it.
        executed: what ran, in order.

    Raises:
        InvalidRequestError: the notebook's format is too old.
    """
    index = RanCells(document.notebook, executed).find_version(cell_id, ran)
    version = _Version(source, cell_id, index, before=None)
    return _with_versions(document, [version]), len(document.notebook.cells) if index is None else index


def with_executed(document: KernelDocument, executed: Sequence[Execution], newer: Sequence[Execution]) -> bytes:
    """The notebook with the versions of `newer` in place, and cells that it lacks after what ran before them and what
    they read.

    Raises:
        InvalidRequestError: the notebook's format is too old.
    """
    wanted = {cell.execution_count for cell in newer}
    versions: list[_Version] = []
    before: int | None = None
    cells, new = RanCells(document.notebook, executed), NewCells(document.notebook)
    for cell in executed:
        index = cells.find(cell.cell_id, cell.source)
        if cell.execution_count in wanted:
            index = cells.find_version(cell.cell_id, cell.source)
            if index is not None:
                new.replace(index, cell.source)
            place = None if index is not None else new.place(cell.source, before, failed=cell.failed)
            versions.append(_Version(cell.source, cell.cell_id, index, place))
        before = before if index is None else index
    return _with_versions(document, versions) if versions else document.data


def cell_index(document: KernelDocument, ref: str) -> int:
    """The index of a cell that a user names by id or index.

    Raises:
        InvalidRequestError: there is none, or several.
    """
    names = CellNames(document.notebook.cells)
    is_index = ref.isdecimal() and ref not in names
    try:
        return names.find(int(ref) if is_index else ref, "--cell")
    except JupyterLspAgentError as error:
        raise InvalidRequestError(str(error)) from None


def is_own_magic(source: str) -> bool:
    """Whether a cell does nothing but ask for checks."""
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    return _is_only_checked(source) or all(line.startswith(_OWN_MAGICS) for line in lines)


def _is_only_checked(source: str) -> bool:
    """Whether a cell's body is checked in place of being run."""
    return source.lstrip().startswith("%%lsp_check")


def display_path(path: Path, folder: Path) -> str:
    """A path as one names it from `folder`."""
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


@dataclass(frozen=True, slots=True)
class _Version:
    """A cell's newest text. `index`: of the cell, `before`: of the one that it follows, where the notebook lacks it."""

    source: str
    cell_id: str | None
    index: int | None
    before: int | None


def _with_versions(document: KernelDocument, versions: Sequence[_Version]) -> bytes:
    content = json.loads(document.data.decode("utf-8-sig"))
    cells = content.get("cells")
    if document.notebook.nbformat < _OLDEST_MAJOR or not isinstance(cells, list):
        raise InvalidRequestError(f"{document.name} is of nbformat {document.notebook.nbformat}: save it as nbformat 4")
    added: dict[int, list[object]] = {}
    has_ids = (document.notebook.nbformat, document.notebook.nbformat_minor) >= _WITH_IDS
    for version in versions:
        if version.index is not None:
            cells[version.index] = {**cells[version.index], "source": version.source}
        else:
            place = len(cells) - 1 if version.before is None else version.before
            added.setdefault(place, []).append(_new_cell(version, has_ids=has_ids))
    content["cells"] = [
        *added.pop(-1, []),
        *(one for number, cell in enumerate(cells) for one in (cell, *added.get(number, []))),
    ]
    return json.dumps(content).encode("ascii")


def _new_cell(version: _Version, *, has_ids: bool) -> dict[str, object]:
    cell: dict[str, object] = {"cell_type": "code", "source": version.source, "metadata": {}, "outputs": []}
    is_told = has_ids and version.cell_id is not None and is_stored_id(version.cell_id)
    return {**cell, "id": version.cell_id} if is_told else cell


def _ids_and_sources(notebook: Notebook) -> tuple[frozenset[str], frozenset[str]]:
    code = [cell for cell in notebook.cells if cell.kind is CellKind.CODE]
    return frozenset(cell.cell_id for cell in code if cell.cell_id), frozenset(
        as_recorded(cell.source) for cell in code
    )


def _history_cell(cell: Execution | None, *, is_judged: bool) -> dict[str, object]:
    return {
        "cell_type": "code",
        "source": cell.source if cell else "",
        "execution_count": cell.execution_count if cell else None,
        "metadata": {} if is_judged else {"tags": [_UNJUDGED_TAG]},
        "outputs": [],
    }


def _stored_cells(stored: bytes | None) -> list[dict[str, object]]:
    try:
        content = json.loads(stored or b"{}")
    except ValueError:
        return []
    cells = content.get("cells") if isinstance(content, dict) else None
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _listed_cell(cell: dict[str, object], metadata: Mapping[object, object]) -> dict[str, object]:
    name = cell["cell_id"]
    made: dict[str, object] = {"cell_type": cell["cell_type"], "source": cell["source"]}
    made["metadata"] = metadata.get(name, {})
    return made if name is None else {**made, "id": name}


def given_names(document: KernelDocument, known: Iterable[str], settings: Settings) -> frozenset[str]:
    """The names that a kernel knows and no cell of a notebook may bind: a script, a function or `exec` made them."""
    magics = build_options(settings).magics
    code = (cell.source for cell in document.notebook.cells if cell.kind is CellKind.CODE)
    bound = frozenset[str]().union(*(name_flow(source, magics).bindings for source in code))
    return frozenset(name for name in user_names(known, bound) if is_name(name))


def hidden_findings(
    document: KernelDocument,
    executed: Iterable[Execution],
    names: Iterable[str],
    settings: Settings,
    written_seconds: float = math.inf,
) -> tuple[HiddenState, ...]:
    """What cells of a notebook use, and Restart & Run All would not give them.

    Args:
        document: the notebook that the kernel runs.
        executed: what ran, in order.
        names: that live in the user's namespace; their values are not looked at.
        settings: `kernel_names` are names that a platform gives, `python_cell_magics` have Python bodies.
        written_seconds: when the notebook was written: what ran later may be of cells that are not saved yet, and what
            these define is nothing that only the kernel knows.
    """
    options = build_options(settings)
    ran = list(_as_executed(executed, written_seconds))
    return find_hidden_state(document.notebook, ran, user_names(names, (), options.kernel_names), options)


def build_options(settings: Settings) -> BuildOptions:
    """How a kernel's inputs are read."""
    return BuildOptions(
        kernel_names=frozenset(settings.kernel_names), python_cell_magics=frozenset(settings.python_cell_magics)
    )


def _as_executed(executed: Iterable[Execution], written_seconds: float) -> Iterator[ExecutedCell]:
    """The runs in order."""
    runs = list(executed)
    for cell, latest_end in zip(runs, latest_ends(runs), strict=True):
        is_late = latest_end > written_seconds
        yield ExecutedCell(cell.source, cell.execution_count, _cell_id(cell), cell.failed, may_be_unsaved=is_late)


def _cell_id(cell: Execution) -> CellId | None:
    return CellId(cell.cell_id) if cell.cell_id else None
