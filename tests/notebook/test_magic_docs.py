"""docs/MAGICS.md says what the tables say. To write it anew: `python -m tests.notebook.test_magic_docs`."""

from collections.abc import Iterator
from pathlib import Path

from jupyter_lsp_agent.notebook.cell_translation import MagicOptions
from jupyter_lsp_agent.notebook.magic_prelude import ANY, TYPE_NAMES
from jupyter_lsp_agent.notebook.magic_table import CELL_MAGICS, FIRST_LINE_LANGUAGES, LINE_MAGICS, BodyKind, FirstLine
from jupyter_lsp_agent.notebook.magics import translate_cell

DOCUMENT = Path(__file__).parents[2] / "docs" / "MAGICS.md"

INTRODUCTION = """\
# Magics

What each of IPython's forms becomes before a language server sees it. A form is replaced in place: every other
character of the cell is sent as it is. This page is made from the tables in
`jupyter_lsp_agent/notebook/magic_table.py`; a test compares.

## Names that forms bind, and their types

"""

MEASURED = """\
## How much of real cells is sent unchanged

466 public Python notebooks, `python -m benchmarks.share_unchanged`. Counted is what stands in the Python document
or, of other languages, in a document of its own; in the Python document their bodies are blank lines.

| what the line is | characters | unchanged |
|---|---|---|
| in a cell without magics | 3,159,405 | 99.99 % |
| Python beside magics | 114,763 | 99.9 % |
| `!command` | 90,501 | 0 % |
| text (`%%writefile`) and unknown cell magics | 19,602 | 0 % |
| in a cell that does not parse | 9,530 | 59 % |
| `%magic` | 8,070 | 42 % |
| other languages, each in a document of its own | 3,947 | 100 % |
| body of a Python cell magic | 940 | 100 % |
| line of a cell magic | 855 | 0 % |
| `x = %magic`, `x = !command` | 198 | 54 % |
| help | 72 | 0 % |"""

EXAMPLES = [
    ("x = !command", "list of lines"),
    ("x = %pwd", ""),
    ("x = %sx command", ""),
    ("x = %who_ls", ""),
    ("x = %time f()", "the type of `f()`"),
    ("x = %timeit -o f()", ""),
    ("x = %anything_else", ""),
    ("%time y = f()", "`y` has the type of `f()`"),
    ("%timeit y = f()", "`y` is bound inside the timed code only"),
    ("%timeit -v y f()", ""),
    ("%store -r y", ""),
    ("%macro y 1-3", ""),
    ("%sc -l y = command", ""),
    ("%sql y << select 1", ""),
    ("%R -o y code", ""),
    ("%aimport y", "the module `y`"),
    ("%pylab", "`numpy`, `np`, `matplotlib`, `pylab`, `mlab`, `pyplot`, `plt`, and whatever two star imports bring"),
    ("%run file.py", "what the file's top level binds"),
]


def _rows() -> Iterator[str]:
    yield "| form | binds | note |"
    yield "|---|---|---|"
    for source, note in EXAMPLES:
        translation = translate_cell(source, MagicOptions())
        bound = ", ".join(f"`{binding.name}`: {binding.type_name}" for binding in translation.bindings)
        for helper in sorted(translation.helpers) if source.startswith("x =") else ():
            bound = f"`x`: {TYPE_NAMES[helper]}"
        yield f"| `{source}` | {bound} | {note} |"


def _cell_magics() -> Iterator[str]:
    ways = {
        BodyKind.PYTHON: "Python, in the notebook's namespace",
        BodyKind.OWN_SCOPE: "Python, in a scope of its own",
    }
    lines = {FirstLine.STATEMENT: "a statement", FirstLine.REFUSED: "nothing", FirstLine.ARGUMENTS: "arguments"}
    yield "| cell magic | body | on its own line | its arguments bind |"
    yield "|---|---|---|---|"
    for name, magic in sorted(CELL_MAGICS.items()):
        body = ways.get(magic.body, f"`{magic.language}`")
        gives = sorted({TYPE_NAMES[binding.gives] for binding in magic.bindings})
        bound = ", ".join(gives) or ("what it defines: Any" if magic.binds_definitions else "")
        yield f"| `%%{name}` | {body} | {lines[magic.first_line]} | {bound} |"


def _line_magics() -> Iterator[str]:
    yield "| line magic | its argument | gives | effect |"
    yield "|---|---|---|---|"
    for name, magic in sorted(LINE_MAGICS.items()):
        own = ", in a scope of its own" if magic.own_scope else ""
        argument = f"Python{own}" if magic.statement_options is not None else ""
        gives = "" if magic.value == ANY else TYPE_NAMES[magic.value]
        yield f"| `%{name}` | {argument} | {gives} | {magic.effect or ''} |"


def document() -> str:
    """The page."""
    parts = [
        INTRODUCTION + "\n".join(_rows()),
        "## Cell magics",
        "A cell magic that is not here is unknown: its body is `unchecked`, with the reason; names that it would bind\n"
        "count as bound. `python_cell_magics` adds to those whose body is Python in the notebook's namespace.\n"
        "`%%script` is in the language of its program.",
        "\n".join(_cell_magics()),
        "## Line magics",
        "Any other line magic, every `!command` and every request for help becomes a call that does nothing;\n"
        "after `=`, another line magic is a value of unknown type.",
        "\n".join(_line_magics()),
        "## Whole cells in another language by their first line",
        "On platforms that have them: "
        + ", ".join(f"`%{name}` ({language})" for name, language in sorted(FIRST_LINE_LANGUAGES.items()))
        + ", where what follows is no Python.",
        MEASURED,
    ]
    return "\n\n".join(parts) + "\n"


def test_the_page_says_what_the_tables_say() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document()


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
