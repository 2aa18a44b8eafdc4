"""Calls that put names into the notebook's namespace which the tree does not show as bindings.

Whoever reaches for the namespace itself (`globals()`, `exec`, `get_ipython()`) may bind anything; what is known to be
harmless is listed. sympy's `var("x y")` tells its names.
"""

import ast
import re
from collections.abc import Iterator

_REACHING = frozenset({"globals", "locals", "vars", "exec", "__builtins__", "builtins", "__main__"})
_REACHING_ATTRIBUTES = frozenset(
    [
        "ex",
        "init_session",
        "push",
        "run_cell",
        "run_cell_async",
        "run_cell_magic",
        "run_code",
        "safe_execfile",
        "user_global_ns",
        "user_ns",
    ]
)
_HARMLESS_MAGICS = frozenset({"matplotlib", "config", "autoreload", "time", "cd", "env", "pip", "conda"})
_WORD = re.compile(r"[^\W\d]\w*")
_HARMLESS_EXTENSIONS = frozenset(
    [
        "autoreload",
        "autotime",
        "black",
        "cython",
        "dotenv",
        "google.colab.data_table",
        "heat",
        "ipython_unittest",
        "itikz",
        "jupyter_black",
        "jupyter_lsp_agent",
        "lab_black",
        "line_profiler",
        "memory_profiler",
        "nb_black",
        "nb_js_diagrammers",
        "nb_mypy",
        "pycodestyle_magic",
        "rpy2.ipython",
        "ruff",
        "rich",
        "scalene",
        "snakeviz",
        "storemagic",
        "sql",
        "tensorboard",
        "tikzmagic",
        "version_information",
        "watermark",
    ]
)
_LOADING = re.compile(r"^[ \t]*%?(?:re)?load_ext[ \t]+(\S+)", re.MULTILINE)


def gives_unseen_names(node: ast.Name | ast.Call | ast.Attribute) -> bool:
    """Whether reading a name or an attribute, or a call, may bind names that nobody can see."""
    match node:
        case ast.Name():
            return node.id in _REACHING
        case ast.Attribute():
            return node.attr in _REACHING_ATTRIBUTES
        case ast.Call():
            name = _called(node)
            return name == "init_session" or (name in {"run_line_magic", "magic"} and not _is_harmless_magic(node))


def names_given_by_call(node: ast.Call | ast.Attribute) -> Iterator[str]:
    """The names that `var("x y")` binds."""
    for argument in node.args if isinstance(node, ast.Call) and _called(node) == "var" else ():
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield from _WORD.findall(argument.value)


def loads_unknown_extension(source: str) -> bool:
    """Whether a cell loads an extension of IPython which may bind names."""
    return "load_ext" in source and any(name not in _HARMLESS_EXTENSIONS for name in _LOADING.findall(source))


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _is_harmless_magic(call: ast.Call) -> bool:
    first = call.args[0] if call.args else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return False
    words = first.value.split()
    return bool(words) and words[0].lstrip("%") in _HARMLESS_MAGICS
