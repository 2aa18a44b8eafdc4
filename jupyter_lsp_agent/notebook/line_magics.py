"""Put Python in the place of one form of IPython's syntax below the level of a cell.

A form that is a statement becomes a statement in the same place and at the same indentation: the code that it runs
(`%time f()` → `f()`), what it binds (`%store -r x` → `x = …`), else a call that does nothing. After `target =` it
becomes a value of the right type. Lines that a form only continues on become empty.
"""

import ast
import re
from collections.abc import Sequence
from keyword import iskeyword
from sys import version_info

from jupyter_lsp_agent.notebook.cell_cleanup import SourceLine
from jupyter_lsp_agent.notebook.cell_translation import EffectKind, MagicOptions, NamespaceEffect
from jupyter_lsp_agent.notebook.ipython_syntax import Construct, ConstructKind, find_constructs
from jupyter_lsp_agent.notebook.magic_arguments import first_path, has_option, run_target, statement_start
from jupyter_lsp_agent.notebook.magic_prelude import ANY, MAGIC, SLIST, TIMEIT
from jupyter_lsp_agent.notebook.magic_table import (
    IMPORTING_LINE_MAGIC,
    LINE_MAGICS,
    PYLAB_SOURCE,
    ArgumentBinding,
    LineMagic,
)
from jupyter_lsp_agent.notebook.module_names import collect_names
from jupyter_lsp_agent.notebook.placed_form import Place, PlacedForm
from jupyter_lsp_agent.notebook.python_syntax import find_syntax_fault, parse
from jupyter_lsp_agent.notebook.source_text import SourceText
from jupyter_lsp_agent.notebook.translation_sheet import LineBuilder, TranslationSheet

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_MODULE_NAME = re.compile(rf"(?<![-\w.]){_IDENTIFIER.pattern}(?:\.{_IDENTIFIER.pattern})*(?![\w.])")
_MAX_DEPTH = 2
"""How many magics deep a statement may be one itself (`%time %prun f()`); each level is translated twice."""
_NO_LINE_MAGIC = LineMagic()


def bound_names(text: str) -> frozenset[str]:
    """What Python text binds at its top level; nothing where it does not parse."""
    tree = parse(text)
    return frozenset() if tree is None else collect_names(tree, SourceText(text)).bound


def names_in(arguments: str, binding: ArgumentBinding) -> list[tuple[str, int]]:
    """The names that `binding` finds in a magic's arguments, each with its place there."""
    return [
        (word.group(), match.start(1) + word.start())
        for match in binding.pattern.finditer(arguments)
        for word in _IDENTIFIER.finditer(match.group(1))
        if not iskeyword(word.group())
    ]


class LineTranslator:
    """Writes forms to a sheet."""

    def __init__(self, sheet: TranslationSheet, options: MagicOptions, depth: int = 0) -> None:
        self._sheet = sheet
        self._options = options
        self._depth = depth
        self._knows_syntax = options.python_version is None or options.python_version <= version_info[:2]

    def translate(self, form: Construct, lines: Sequence[SourceLine], indent: str = "") -> None:
        """Write all lines of `form`, which is among `lines`; `indent` is put before what has none of its own."""
        target = PlacedForm(form, lines, indent)
        match form.kind:
            case ConstructKind.MAGIC:
                self._magic(target)
            case ConstructKind.ASSIGN_MAGIC:
                self._assigned_magic(target)
            case ConstructKind.ASSIGN_SHELL:
                self._write(target, target.head().write(self._value(target, SLIST)))
            case ConstructKind.CALL | ConstructKind.QUOTE_WORDS | ConstructKind.QUOTE_REST:
                self._write(target, _call(target))
            case _:
                self._pass(target)

    def _write(self, form: PlacedForm, builder: LineBuilder) -> None:
        """One line for the form, at its first line; the rest of it is empty."""
        self._sheet.lines.append(builder.build())
        self._sheet.blank(form.rest)

    def _value(self, form: PlacedForm, gives: str) -> str:
        """What is assigned. A container's type is inferred from what is put into it first, and a kernel holds it to
        none."""
        return self._sheet.use(gives if form.assigns_to_names else ANY)

    def _pass(self, form: PlacedForm) -> None:
        self._write(form, form.head().write(self._sheet.use(MAGIC)))

    def _magic(self, form: PlacedForm) -> None:
        name, arguments = form.name, form.arguments
        magic = LINE_MAGICS.get(name, _NO_LINE_MAGIC)
        if not name or name.startswith("%"):
            self._refuse(form)
        elif magic.statement_options is not None:
            self._statement(form, magic)
        elif name == IMPORTING_LINE_MAGIC:
            self._imports(form)
        else:
            self._binding_magic(form, magic)
        self._note_effect(form, magic, arguments)

    def _refuse(self, form: PlacedForm) -> None:
        name = form.name.lstrip("%")
        message = (
            f"`%%{name}` is a cell magic only at the very start of its cell"
            if form.name.startswith("%")
            else "a magic's name must follow `%` at once"
        )
        self._sheet.add_error(message, form.line, form.column, form.column + 1 + len(form.name))
        self._pass(form)

    def _imports(self, form: PlacedForm) -> None:
        found = list(_MODULE_NAME.finditer(form.arguments))
        if not found:
            self._pass(form)
            return
        builder = form.head().write("import ")
        for number, match in enumerate(found):
            builder.write(", " if number else "")
            form.copy_argument(builder, match.start(), match.group())
        self._write(form, builder)

    def _binding_magic(self, form: PlacedForm, magic: LineMagic) -> None:
        bindings = [
            (name, start, binding.gives)
            for binding in magic.bindings
            for name, start in names_in(form.arguments, binding)
        ]
        if not bindings:
            self._pass(form)
            return
        builder = form.head()
        for number, (name, start, gives) in enumerate(bindings):
            builder.write("; " if number else "")
            form.copy_argument(builder, start, name)
            builder.write(f" = {self._sheet.use(gives)}")
            self._sheet.bind(name, form.line, gives)
        self._write(form, builder)

    def _note_effect(self, form: PlacedForm, magic: LineMagic, arguments: str) -> None:
        kind, argument = magic.effect, first_path(arguments)
        if kind is None or not magic.effect_pattern.search(arguments.strip()):
            return
        if kind is EffectKind.RUN_FILE:
            target = run_target(arguments)
            if target is None:
                return
            argument = target.name
            kind = EffectKind.RUN_MODULE if target.is_module else kind
            kind = EffectKind.INJECT if target.is_computed else kind
        self._sheet.add_effect(NamespaceEffect(kind, form.line.cell_line, argument))
        if kind is EffectKind.PYLAB:
            for source in PYLAB_SOURCE:
                self._sheet.glue(form.indent + source)
            self._sheet.use(ANY)

    def _statement(self, form: PlacedForm, magic: LineMagic) -> None:
        """A magic whose argument is Python: that Python, in its own place."""
        start = statement_start(form.arguments, magic.statement_options or "")
        text = form.arguments[start:] if start is not None else ""
        first_index = len(self._sheet.lines)
        if start is None or not text.strip():
            self._pass(form)
        elif not self._nested(form, start) and self._is_python(form, magic, text, start):
            self._place_statement(form, start)
        else:
            return
        if magic.own_scope and text.strip():
            self._sheet.add_own_scope(first_index, bound_names(text))
        self._refuse_awaits(form, magic, first_index)
        self._bind_after(form, magic)

    def _refuse_awaits(self, form: PlacedForm, magic: LineMagic, first_index: int) -> None:
        if magic.refuses_await:
            self._sheet.refuse_awaits(first_index, f"`%{form.name}` does not run its statement in the event loop")

    def _bind_after(self, form: PlacedForm, magic: LineMagic) -> None:
        for binding in magic.bindings:
            for name, _ in names_in(form.arguments, binding):
                self._sheet.glue(f"{form.indent}{name} = {self._sheet.use(binding.gives)}")
                self._sheet.bind(name, form.line, binding.gives)

    def _nested(self, form: PlacedForm, start: int) -> bool:
        """Translate a statement that is IPython's itself (`%time !ls`), as IPython does; whether it was one."""
        place = form.argument_place(start)
        if form.rest or place is None or self._depth >= _MAX_DEPTH:
            return False
        fragment = form.line.without(place.column)
        inner = find_constructs([fragment.text])
        if not inner:
            return False
        aside = TranslationSheet()
        LineTranslator(aside, self._options, self._depth + 1).translate(inner[0], [fragment])
        if find_syntax_fault(aside.finish().text) is not None:
            return False
        LineTranslator(self._sheet, self._options, self._depth + 1).translate(inner[0], [fragment], form.indent)
        return True

    def _is_python(self, form: PlacedForm, magic: LineMagic, text: str, start: int) -> bool:
        """Whether a statement compiles; where it does not, say so and write a line without it."""
        fault = find_syntax_fault(text)
        placed = form.statement_text(start) if form.rest else text
        if fault is None and _holds_statement(placed):
            return True
        if fault is not None and magic.reports_errors and self._knows_syntax:
            place = form.argument_place(start)
            if place is not None:
                line = form.lines[place.index]
                begin = place.column + (0 if form.rest else fault.range.start.column)
                end = len(line.text) if form.rest else place.column + fault.range.end.column
                self._sheet.add_error(fault.message, line, begin, min(end, len(line.text)))
        self._pass(form)
        return False

    def _place_statement(self, form: PlacedForm, start: int) -> None:
        place = form.argument_place(start)
        if place is None:
            self._pass(form)
            return
        self._sheet.blank(form.lines[form.first : place.index])
        line = form.lines[place.index]
        if not form.rest and _is_unused_value(form.arguments[start:]):
            # Its value is shown, so no server may call it unused.
            builder = form.head().write(f"{self._sheet.use(MAGIC).removesuffix(')')}")
            self._sheet.lines.append(builder.copy(place.column).write(")").build())
            return
        self._sheet.lines.append(form.indented(line).copy(place.column).build())
        self._sheet.copy(form.lines[place.index + 1 : form.last + 1])

    def _assigned_magic(self, form: PlacedForm) -> None:
        magic = LINE_MAGICS.get(form.name, _NO_LINE_MAGIC)
        if magic.statement_options is not None:
            first_index = len(self._sheet.lines)
            self._write(form, self._assigned_statement(form, magic))
            self._refuse_awaits(form, magic, first_index)
            self._bind_inside(form, magic)
        else:
            self._write(form, form.head().write(self._value(form, magic.value)))
        self._note_effect(form, magic, form.arguments)

    def _bind_inside(self, form: PlacedForm, magic: LineMagic) -> None:
        """`x = %time y = f()` binds `y` too."""
        start = statement_start(form.arguments, magic.statement_options or "")
        text = form.arguments[start:]
        if start is None or magic.own_scope or _is_expression(text):
            return
        for name in sorted(bound_names(text)):
            self._sheet.glue(f"{form.indent}{name} = {self._sheet.use(ANY)}")
            self._sheet.bind(name, form.line, ANY)

    def _assigned_statement(self, form: PlacedForm, magic: LineMagic) -> LineBuilder:
        """`x = %time f()` is `x = f()`; `x = %timeit -o f()` is its result, `f()` looked at all the same."""
        start = statement_start(form.arguments, magic.statement_options or "")
        place = form.argument_place(start) if start is not None else None
        head = form.head()
        if start is None or place is None or form.rest:
            return head.write(self._sheet.use(ANY))
        text = form.arguments[start:]
        if magic.value == TIMEIT:
            return self._assigned_timing(form, magic, text, place)
        if _is_expression(text):
            return head.copy(place.column)
        return head.write(self._sheet.use(ANY))

    def _assigned_timing(self, form: PlacedForm, magic: LineMagic, text: str, place: Place) -> LineBuilder:
        head = form.head()
        gives = has_option(form.arguments, "ov", magic.statement_options or "")
        result = self._sheet.use(TIMEIT) if gives else "None"
        if _is_expression(text) and _is_expression(f"({text}, None)[1]"):
            return head.write("(").copy(place.column).write(f", {result})[1]")
        return head.write(result)


def _holds_statement(text: str) -> bool:
    """Whether text compiles and is more than comments."""
    if find_syntax_fault(text) is not None:
        return False
    tree = parse(text)
    return tree is None or bool(tree.body)


def _is_unused_value(text: str) -> bool:
    """Whether text is an expression that does nothing but give a value, and can be an argument as it stands."""
    tree = parse(text.strip())
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return False
    is_doing = isinstance(tree.body[0].value, ast.Call | ast.Await | ast.Yield | ast.YieldFrom)
    return not is_doing and find_syntax_fault(f"f({text})") is None


def _is_expression(text: str) -> bool:
    tree = parse(text.strip())
    return tree is not None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)


def _call(form: PlacedForm) -> LineBuilder:
    """`/f a b`, `,f a b` and `;f a b` as calls."""
    builder = form.head()
    start = form.column + 1
    builder.copy(start, start + len(form.name)).write("(")
    if form.construct.kind is ConstructKind.QUOTE_REST:
        return builder.write(f'"{form.arguments}")')
    if form.construct.kind is ConstructKind.QUOTE_WORDS:
        words = '", "'.join(form.arguments.split())
        return builder.write(f'"{words}")')
    for number, match in enumerate(re.finditer(r"\S+", form.arguments)):
        builder.write(", " if number else "")
        form.copy_argument(builder, match.start(), match.group())
    return builder.write(")")
