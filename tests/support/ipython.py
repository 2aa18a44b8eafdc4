"""IPython's own word: what its transformer makes of a cell, and whether CPython then compiles it."""

import ast
import functools
import warnings

from IPython.core.inputtransformer2 import TransformerManager

from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.notebook.cell_translation import CellTranslation, MagicOptions
from jupyter_lsp_agent.notebook.magics import translate_cell

AS_WRITTEN = MagicOptions(automagic=False)
"""IPython's static transformer knows no automagic: that is decided when the cell runs."""


@functools.lru_cache(maxsize=50_000)
def transformed(source: str) -> str | None:
    """IPython's translation of a cell, `None` where it has none. Lines end as we end them: IPython breaks on CRLF."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return str(TransformerManager().transform_cell("\n".join(split_lines(source))))
        except (SyntaxError, RuntimeError, ValueError):
            return None


def compiles(text: str | None) -> bool:
    """Whether CPython compiles a text as IPython would have it: with `await` at the top."""
    if text is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return False
    return True


def ipython_accepts(source: str) -> bool:
    """Whether IPython takes a cell, as far as that shows before it runs."""
    return compiles(transformed(source))


def we_accept(source: str) -> bool:
    """Whether our translation is Python."""
    return compiles(translate_cell(source, AS_WRITTEN).text)


def check_map(source: str, translation: CellTranslation) -> None:
    """Every line of the cell is there once, in order, and what is said to be copied is the same on both sides."""
    texts = split_lines(source)
    assert [line.cell_line for line in translation.lines if line.cell_line is not None] == list(range(len(texts)))
    for line in translation.lines:
        assert "\n" not in line.text
        assert "\r" not in line.text
        if line.cell_line is None:
            assert not line.spans
            continue
        if line.spans is None:
            assert line.text == texts[line.cell_line]
            continue
        end = 0
        for span in line.spans:
            virtual = line.text[span.virtual_column : span.virtual_column + span.length]
            assert span.virtual_column >= end
            assert len(virtual) == span.length > 0
            assert virtual == texts[line.cell_line][span.cell_column : span.cell_column + span.length]
            end = span.virtual_column + span.length
