"""Where virtual documents pretend to lie, and how messages that name them are put into the notebook's words."""

import keyword
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.line_map import CellChunk, LineMap, whole_lines
from jupyter_lsp_agent.service.virtual_paths import speak_of_notebook, virtual_path

MAP = LineMap(2, [(1, CellChunk(whole_lines("a\nb"))), (4, CellChunk(whole_lines("c")))])


@pytest.mark.parametrize("name", ["n.ipynb", "My nb (1) #2.ipynb", "a%20b.ipynb", "😀.ipynb", "x" * 250 + ".ipynb"])
def test_it_lies_beside_the_notebook_under_a_name_that_nothing_can_import(tmp_path: Path, name: str) -> None:
    path = virtual_path(tmp_path / name, ".py")
    assert path.parent == tmp_path
    assert path.suffix == ".py"
    assert not path.stem.isidentifier()
    assert not keyword.iskeyword(path.stem)


def test_it_never_has_the_name_of_a_real_file(tmp_path: Path) -> None:
    taken = virtual_path(tmp_path / "n.ipynb", ".py")
    taken.touch()
    dangling = virtual_path(tmp_path / "n.ipynb", ".py")
    dangling.symlink_to(tmp_path / "nowhere")
    assert len({taken, dangling, virtual_path(tmp_path / "n.ipynb", ".py")}) == 3


def test_each_body_of_another_language_has_a_name_of_its_own(tmp_path: Path) -> None:
    names = {virtual_path(tmp_path / "n.ipynb", ".sh", cell) for cell in (None, 0, 1)}
    assert len(names) == 3


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("`T @ sub/n.ipynb.jla.py:4:7` is not `T`", "`T @ n.ipynb cell 1` is not `T`"),
        ("see /w/sub/n.ipynb.jla.py:5", "see n.ipynb cell 4"),
        ("see n.ipynb.jla1.py", "see n.ipynb"),
        ("see n.ipynb.jla.py:1:1", "see n.ipynb"),
        ("see helpers.py:4:7", "see helpers.py:4:7"),
    ],
)
def test_a_message_speaks_of_cells(message: str, said: str) -> None:
    where = TextRange(TextPosition(0, 0), TextPosition(0, 1))
    found = CellDiagnostic(4, Diagnostic(where, DiagnosticSeverity.ERROR, message))
    assert speak_of_notebook(found, Path("/w/sub/n.ipynb"), MAP).diagnostic.message == said
