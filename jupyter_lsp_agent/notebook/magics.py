"""Translate one cell from IPython to Python, in place.

`translate_cell` is the only entry. Four steps, each a module: what IPython strips from the left (`cell_cleanup`), the
forms of its syntax (`ipython_syntax`), what a magic is (`magic_table`, data) and what is written in its place
(`line_magics`, and here for whole cells). The values are in `cell_translation`; what is written may use the names of
`magic_prelude`.
"""

import re
from collections.abc import Iterator, Sequence

from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.positions import CellLine, split_lines
from jupyter_lsp_agent.notebook.automagic import AUTOMAGIC_WORDS, find_automagic
from jupyter_lsp_agent.notebook.cell_cleanup import SourceLine, clean_lines, has_blank_start, source_lines
from jupyter_lsp_agent.notebook.cell_translation import (
    CellScope,
    CellTranslation,
    EffectKind,
    ForeignBody,
    MagicOptions,
    NamespaceEffect,
)
from jupyter_lsp_agent.notebook.ipython_syntax import (
    Construct,
    find_constructs,
    may_hold_ipython_syntax,
)
from jupyter_lsp_agent.notebook.line_magics import LineTranslator, bound_names, names_in
from jupyter_lsp_agent.notebook.line_map import MappedLine
from jupyter_lsp_agent.notebook.magic_arguments import statement_start, written_path
from jupyter_lsp_agent.notebook.magic_prelude import ANY, PRELUDE, prelude_lines
from jupyter_lsp_agent.notebook.magic_table import (
    BACKGROUND,
    CELL_MAGICS,
    CODE_TEMPLATE,
    FIRST_LINE_LANGUAGES,
    LANGUAGE_OF_PROGRAM,
    SCRIPT,
    SCRIPT_BINDINGS,
    TEXT,
    WRITING,
    BodyKind,
    CellMagic,
    FirstLine,
)
from jupyter_lsp_agent.notebook.own_scopes import close_own_scopes
from jupyter_lsp_agent.notebook.python_syntax import find_syntax_fault
from jupyter_lsp_agent.notebook.translation_sheet import LineBuilder, TranslationSheet

__all__ = ["PRELUDE", "CellTranslation", "MagicOptions", "close_own_scopes", "prelude_lines", "translate_cell"]

_HELP_ON_CELL_MAGIC = re.compile(r"%%\w+\?")
_FIRST_WORD = re.compile(r"\s*([^\W\d]\w*)")
_COMMENT_OR_EMPTY = re.compile(r"\s*(?:#|$)")
_MAX_DEPTH = 10
"""How many cell magics may stand above one another; nobody writes more than two or three."""
_USER_MAGIC = CellMagic(BodyKind.PYTHON)
_DEFINITION = re.compile(
    r"(?:cpdef\s[^(\n=]*?|def\s+|cdef\s+class\s+|class\s+)([^\W\d]\w*)\s*[(:]|([^\W\d]\w*)\s*=(?!=)", re.UNICODE
)
_FORTRAN_DEFINITION = re.compile(r"(?:[\w*(), =]+\s)?(?:subroutine|function)\s+([a-z]\w*)\s*\(", re.IGNORECASE)
_VERSION = re.compile(r"[\d.]+(?:\.exe)?$")


def translate_cell(source: str, options: MagicOptions) -> CellTranslation:
    """What `source` is in Python.

    Any text is accepted and nothing is raised: what is neither Python nor IPython's stays as it is, for Python's own
    parse to report. Lines end where `core.positions.split_lines` ends them, whatever IPython makes of CRLF.
    """
    texts = split_lines(source)
    is_python = not (may_hold_ipython_syntax(source) or has_blank_start(source))
    if is_python and not _may_be_automagic(source, options):
        return CellTranslation(tuple(MappedLine(text, CellLine(n)) for n, text in enumerate(texts)), is_identity=True)
    sheet = TranslationSheet()
    _CellTranslator(sheet, options).translate(source_lines(texts), may_be_automagic=options.automagic)
    return sheet.finish()


def _may_be_automagic(source: str, options: MagicOptions) -> bool:
    word = _FIRST_WORD.match(source) if options.automagic else None
    return word is not None and word[1] in AUTOMAGIC_WORDS and not re.search(r"[\r\n]\s*\S", source[word.end() :])


class _CellTranslator:
    """Writes cells, and the bodies of magics that IPython reads as cells, to a sheet."""

    def __init__(self, sheet: TranslationSheet, options: MagicOptions, depth: int = 0) -> None:
        self._sheet = sheet
        self._options = options
        self._depth = depth
        self._forms = LineTranslator(sheet, options)

    def translate(self, lines: Sequence[SourceLine], *, may_be_automagic: bool = False) -> None:
        """Write a cell."""
        empty, rest = clean_lines(lines)
        self._sheet.blank(empty)
        rest = self._without_form_comments(rest)
        first = rest[0].text if rest else ""
        if first.startswith("%%") and not _HELP_ON_CELL_MAGIC.match(first):
            name, _, arguments = first[2:].rstrip().partition(" ")
            self._cell_magic(name, arguments, rest)
            return
        forms = find_constructs([line.text for line in rest])
        language = self._language_of_first_line(forms, rest)
        if language is not None:
            self._foreign(language, forms[0].content, rest[:1], rest[1:])
            return
        if may_be_automagic and not forms and _is_one_line(rest):
            forms = self._automagic(first)
        self._python(forms, rest)

    def _without_form_comments(self, lines: list[SourceLine]) -> list[SourceLine]:
        """`#@title` and its like may stand above a cell magic: where they mean a form, they are taken off first."""
        if not lines or not lines[0].text.startswith("#@"):
            return lines
        first = next((i for i, line in enumerate(lines) if not _COMMENT_OR_EMPTY.match(line.text)), 0)
        if not lines[first].text.startswith("%%"):
            return lines
        self._sheet.copy(lines[:first])
        return lines[first:]

    def _automagic(self, line: str) -> list[Construct]:
        form = find_automagic(line)
        if form is None:
            return []
        self._sheet.automagic = form.content.partition(" ")[0]
        return [form]

    def _python(self, forms: Sequence[Construct], lines: Sequence[SourceLine]) -> None:
        done = 0
        for form in forms:
            self._sheet.copy(lines[done : form.first_line])
            self._forms.translate(form, lines)
            done = form.last_line + 1
        self._sheet.copy(lines[done:])

    def _language_of_first_line(self, forms: Sequence[Construct], lines: Sequence[SourceLine]) -> LanguageId | None:
        """The language of a cell that begins with `%sql` and its like, and goes on with what is no Python."""
        if not forms or forms[0].first_line != 0 or not lines[0].text.startswith("%"):
            return None
        name, _, arguments = forms[0].content.partition(" ")
        language = FIRST_LINE_LANGUAGES.get(name)
        rest = lines[1:]
        if language is None or not any(line.text.strip() for line in rest):
            return None
        is_sure = name.startswith("md") or (not arguments and name != "sql")
        return language if is_sure or not self._is_python(rest) else None

    def _is_python(self, lines: Sequence[SourceLine]) -> bool:
        return find_syntax_fault(self._aside(lines).finish().text) is None

    def _aside(self, lines: Sequence[SourceLine]) -> TranslationSheet:
        """A body's translation on a sheet of its own, to be looked at only."""
        sheet = TranslationSheet()
        if self._depth < _MAX_DEPTH:
            _CellTranslator(sheet, self._options, self._depth + 1).translate(lines)
        return sheet

    def _cell_magic(self, name: str, arguments: str, lines: Sequence[SourceLine]) -> None:
        magic = self._find(name, arguments)
        if magic is None or self._depth >= _MAX_DEPTH:
            self._unknown(name, lines)
        elif magic.body is BodyKind.LANGUAGE:
            self._foreign_magic(name, arguments, magic, lines)
        else:
            self._python_magic(name, arguments, magic, lines)

    def _find(self, name: str, arguments: str) -> CellMagic | None:
        if not self._options.python_cell_magics.isdisjoint({name, f"%%{name}"}):
            return _USER_MAGIC
        if name == SCRIPT:
            return CellMagic(BodyKind.LANGUAGE, _language_of_script(arguments), bindings=SCRIPT_BINDINGS)
        return CELL_MAGICS.get(name)

    def _unknown(self, name: str, lines: Sequence[SourceLine]) -> None:
        """Nothing is said of the body, but names that it would bind count as bound."""
        body = lines[1:]
        reason = (
            "the body of %%code_wrap is a template, not code that runs"
            if name == CODE_TEMPLATE
            else f"cell magic %%{name} is not known; if its body is Python, add it to python_cell_magics"
        )
        names = sorted(bound_names(self._aside(body).finish().text)) if body and name != CODE_TEMPLATE else []
        self._sheet.blank(lines)
        self._sheet.bind_anything(names, lines[0])
        self._sheet.scope = CellScope.NONE
        if any(line.text.strip() for line in body):
            self._sheet.add_unchecked(body[0].cell_line, body[-1].cell_line, reason)

    def _foreign_magic(self, name: str, arguments: str, magic: CellMagic, lines: Sequence[SourceLine]) -> None:
        gives_pipes = BACKGROUND.search(arguments) is not None
        bindings = [(bound, ANY if gives_pipes else gives) for bound, gives in _bindings(arguments, magic)]
        head = LineBuilder(lines[0])
        self._bind(head, bindings, lines[0])
        self._foreign(magic.language or TEXT, f"{name} {arguments}", lines[:1], lines[1:], head)
        if name in WRITING and (path := written_path(arguments)):
            self._sheet.add_effect(NamespaceEffect(EffectKind.WRITE_FILE, lines[0].cell_line, path))
        if magic.binds_definitions:
            self._sheet.bind_anything(list(_definitions(lines[1:])), lines[0])

    def _foreign(
        self,
        language: LanguageId,
        call: str,
        head: Sequence[SourceLine],
        body: Sequence[SourceLine],
        builder: LineBuilder | None = None,
    ) -> None:
        name, _, arguments = call.partition(" ")
        first = CellLine(head[0].cell_line + 1)
        last = body[-1].cell_line if body else head[0].cell_line
        self._sheet.lines.append((builder or LineBuilder(head[0])).build())
        self._sheet.blank(body)
        self._sheet.scope = CellScope.NONE
        foreign = ForeignBody(language, first, last, name, arguments, not head[0].text.startswith("%%"))
        if language != TEXT:
            self._sheet.add_foreign(foreign)
        elif any(line.text.strip() for line in body):
            what = "in a language that is not known" if name == SCRIPT else "text, not code"
            self._sheet.add_unchecked(first, last, f"{foreign.origin}: its body is {what}")

    def _bind(self, builder: LineBuilder, bindings: Sequence[tuple[str, str]], line: SourceLine) -> None:
        for number, (name, gives) in enumerate(bindings):
            builder.write(f"{'; ' if number else ''}{name} = {self._sheet.use(gives)}")
            self._sheet.bind(name, line, gives)

    def _python_magic(self, name: str, arguments: str, magic: CellMagic, lines: Sequence[SourceLine]) -> None:
        first_index = len(self._sheet.lines)
        body = lines[1:]
        own_scope = magic.body is BodyKind.OWN_SCOPE
        if own_scope:
            self._sheet.scope = CellScope.OWN
        head = LineBuilder(lines[0])
        bindings = _bindings(arguments, magic)
        # A kernel binds them when the body has run. In one that does not parse nothing may stand behind the fault.
        at_end = own_scope or (bool(bindings) and self._is_python(body))
        if magic.first_line is FirstLine.ARGUMENTS:
            self._bind(head, () if at_end else bindings, lines[0])
        else:
            self._first_line(name, arguments, magic, lines, head)
        self._sheet.lines.append(head.build())
        _CellTranslator(self._sheet, self._options, self._depth + 1).translate(body)
        if magic.refuses_await:
            self._sheet.refuse_awaits(first_index, f"`%%{name}` does not run its body in the event loop")
        if own_scope:
            text = "\n".join(line.text for line in self._sheet.lines[first_index:])
            self._sheet.add_own_scope(first_index, bound_names(text))
        for bound, gives in bindings if at_end else ():
            self._sheet.glue(f"{bound} = {self._sheet.use(gives)}")
            self._sheet.bind(bound, lines[0], gives)

    def _first_line(
        self, name: str, arguments: str, magic: CellMagic, lines: Sequence[SourceLine], head: LineBuilder
    ) -> None:
        """The statement on a cell magic's own line: in its place, or an error where none may stand there."""
        start = statement_start(arguments, magic.options if magic.first_line is FirstLine.STATEMENT else "--")
        statement = arguments[start:].rstrip() if start is not None else ""
        if not statement or start is None:
            return
        line = lines[0]
        column = 2 + len(name) + 1 + start
        if _is_one_line(lines):
            message = f"`%%{name}` needs a body below its line; for one statement write `%{name}`"
            self._sheet.add_error(message, line, column, column + len(statement))
        elif magic.first_line is FirstLine.REFUSED:
            message = f"no statement may follow `%%{name}` on its own line"
            self._sheet.add_error(message, line, column, column + len(statement))
        elif find_syntax_fault(statement) is None:
            head.copy(column, column + len(statement))


def _is_one_line(lines: Sequence[SourceLine]) -> bool:
    return len(lines) == 1 or (len(lines) == 2 and not lines[1].text)


def _bindings(arguments: str, magic: CellMagic) -> list[tuple[str, str]]:
    """The names that a cell magic's line binds, once each, with what gives them."""
    found = {name: binding.gives for binding in magic.bindings for name, _ in names_in(arguments, binding)}
    return list(found.items())


def _definitions(lines: Sequence[SourceLine]) -> Iterator[str]:
    """Names that a body much like Python, or one of Fortran, defines at its top level."""
    found: dict[str, None] = {}
    for line in lines:
        match, fortran = _DEFINITION.match(line.text), _FORTRAN_DEFINITION.match(line.text.strip())
        # The compiler behind the magic gives Fortran's names in small letters.
        name = (match[1] or match[2]) if match else fortran and fortran[1].lower()
        if name and not name.startswith("_"):
            found[name] = None
    yield from found


def _language_of_script(arguments: str) -> LanguageId:
    """The language of `%%script --out x /usr/bin/env bash -x`."""
    words = iter(arguments.split())
    for word in words:
        if word in {"--out", "--err", "--proc"}:
            next(words, None)
            continue
        program = re.split(r"[/\\]", word)[-1]
        if not word.startswith("-") and program != "env" and "=" not in word:
            return LANGUAGE_OF_PROGRAM.get(_VERSION.sub("", program) or program, TEXT)
    return TEXT
