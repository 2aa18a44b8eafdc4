"""Read the arguments of magics as IPython does: options, then a statement or a path."""

import re
from dataclasses import dataclass

from jupyter_lsp_agent.notebook.magic_table import LONG_OPTIONS_ONLY

_WORD = re.compile(r"\s*(\S+)\s*")
_LONG_OPTIONS = re.compile(r"\s*(?:--no-raise-error(?:\s+|$))*")
_PATH = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|((?:\\.|\S)+))""")
_RUN_OPTIONS = "nidtN:b:pD:l:rs:T:em:G"
_APPEND = re.compile(r"(?<!\S)(?:-a|--append)(?!\S)")
_COMPUTED = re.compile(r"[{$]")


@dataclass(frozen=True, slots=True)
class RunTarget:
    """What `%run` runs: a file, or with `-m` a module; `is_computed` where its name is known only at run time."""

    name: str
    is_module: bool
    is_computed: bool


def statement_start(arguments: str, options: str) -> int | None:
    """Where the statement begins that follows a magic's options; `None` where IPython refuses an option.

    Args:
        arguments: everything after the magic's name.
        options: the letters that it knows, as `getopt` spells them, or `LONG_OPTIONS_ONLY`.
    """
    if options == LONG_OPTIONS_ONLY:
        match = _LONG_OPTIONS.match(arguments)
        return match.end() if match else 0
    position = 0
    while (word := _WORD.match(arguments, position)) and word[1].startswith("-") and word[1] != "-":
        if word[1] == "--":
            return word.end()
        takes_next = _takes_next_word(word[1], options)
        if takes_next is None:
            return None
        value = _WORD.match(arguments, word.end()) if takes_next else None
        position = value.end() if value else word.end()
    return word.start(1) if word else len(arguments)


def _takes_next_word(word: str, options: str) -> bool | None:
    """Whether a bundle such as `-qn` goes on in the next word; `None` where it holds an unknown letter."""
    for i, letter in enumerate(word[1:], start=2):
        known = options.find(letter) if letter != ":" else -1
        if known < 0:
            return None
        if options[known + 1 : known + 2] == ":":
            return i == len(word)
    return False


def has_option(arguments: str, letters: str, options: str) -> bool:
    """Whether one of the options `letters` is given before the statement."""
    start = statement_start(arguments, options)
    words = arguments[: start or 0].split()
    return any(word.startswith("-") and any(letter in word for letter in letters) for word in words)


def run_target(arguments: str) -> RunTarget | None:
    """What `%run ARGUMENTS` runs; `None` where it names nothing."""
    module = re.search(r"(?<!\S)-\w*m\s*(\S+)", arguments[: statement_start(arguments, _RUN_OPTIONS) or 0])
    if module:
        return RunTarget(module[1], is_module=True, is_computed=_COMPUTED.search(module[1]) is not None)
    start = statement_start(arguments, _RUN_OPTIONS)
    name = first_path(arguments[start:]) if start is not None else ""
    return RunTarget(name, is_module=False, is_computed=_COMPUTED.search(name) is not None) if name else None


def written_path(arguments: str) -> str:
    """The file that `%%writefile ARGUMENTS` writes; empty where it is known only at run time."""
    path = first_path(_APPEND.sub("", arguments))
    return "" if _COMPUTED.search(path) else path


def first_path(arguments: str) -> str:
    """The first word as a path: without its quotes, blanks told by a backslash put back; empty where there is none."""
    match = _PATH.match(arguments)
    if match is None:
        return ""
    if match[3] is not None:
        return re.sub(r"\\(.)", r"\1", match[3])
    return match[1] if match[1] is not None else match[2]
