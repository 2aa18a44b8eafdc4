"""The words of the command line, and what they become.

Nothing heavy is imported here: `--help` and `--version` answer from this module alone. A mistake is told in
one line and ends with exit code 2.
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from jupyter_lsp_agent._version import __version__

PROGRAM = "jupyter lsp-agent"
"""How users call us."""

USAGE_ERROR = 2
"""The exit code of wrong usage, unreadable input and files without a verdict."""

FORMATS = ("text", "json", "jsonl", "github")
"""The formats of `--format`."""

SEVERITIES = ("error", "warning", "information", "hint")
"""The severities of `--severity`, the gravest first."""

_TRAIT = re.compile(r"--LspAgent\.(?P<name>\w+)(?:=(?P<value>.*))?", re.DOTALL)

_CHECK_DESCRIPTION = """\
Check notebooks, and plain files of any supported language, with real language servers. A folder stands for the
notebooks below it; without PATH the current folder is checked. Exit code: 0 nothing to show, 1 something to show,
2 wrong usage, unreadable input, or a file without a verdict."""


_QUERY_DESCRIPTION = """\
Ask a language server about code in a notebook or a plain file. METHOD is one of hover, definition, references,
signature_help (of a place), document_symbols, or workspace_symbols (of names that match QUERY). PLACE is
CELL:LINE:COLUMN in a notebook, LINE:COLUMN in a plain file; CELL is a cell's index, from 0, or its id; lines and
columns count from 1. A number of more than five digits is an id. Results are lines `path:cell N (id):line:column:
source`. Exit code: 0 found, 1 nothing found, 2 no server answered, or wrong usage."""


_INSTALL_DESCRIPTION = """\
Install language servers from PyPI and npm into a folder of this program's own. Without ID: for each language found
below the current folder, the first server of its chain. Exit code: 0, or 2 where something could not be installed."""


_TRUST_DESCRIPTION = """\
Let language servers run programs of a folder: the interpreter of its environment, its build scripts, its packages'
own tools. Elsewhere these are only read, and a server that cannot do without running them is not started. Without
PATH: list the folders that are trusted."""


class UsageError(Exception):
    """The command line cannot be understood; its text is one line."""


@dataclass(frozen=True, slots=True)
class Traits:
    """The settings that were typed as traits, by name; an option that was given several times has several texts."""

    values: dict[str, list[str]] = field(default_factory=dict)


def parse_arguments(argv: Sequence[str]) -> tuple[argparse.Namespace, Traits]:
    """The options of a command line, and the traits in it.

    Raises:
        UsageError: it cannot be understood.
        SystemExit: it asked for help or the version, which has been printed.
    """
    rest, traits = _take_traits(argv)
    options, unknown = _build_parser().parse_known_args(rest)
    if unknown:  # told here, where the command is known whose help has the right word
        raise UsageError(f"unrecognized arguments: {' '.join(unknown)} (see `{PROGRAM} {options.command} --help`)")
    return options, traits


class _Parser(argparse.ArgumentParser):
    """Tells a mistake in one line, through the caller."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def _build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=PROGRAM,
        description="The verdict of a real language server on a Jupyter notebook, per cell.",
        epilog="Every setting can be given as --LspAgent.NAME=VALUE; the README lists them.",
    )
    parser.add_argument("--version", action="version", version=f"jupyter-lsp-agent {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_check(commands.add_parser("check", help="check notebooks and files", description=_CHECK_DESCRIPTION))
    status = commands.add_parser(
        "status", help="tell which servers there are", description="Tell which servers there are."
    )
    status.add_argument("--json", action="store_true", help="as one JSON object")
    status.add_argument("--probe", action="store_true", help="start each installed server once, and say how it went")
    _add_query(commands.add_parser("query", help="ask about a place or a name in code", description=_QUERY_DESCRIPTION))
    _add_installs(commands)
    return parser


def _add_query(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("method", metavar="METHOD", help="what is asked")
    parser.add_argument("path", metavar="PATH", help="a notebook or a file")
    parser.add_argument("about", nargs="?", metavar="PLACE|QUERY", help="where, or what names")
    parser.add_argument("--cell", metavar="CELL", help="for document_symbols: of this cell alone")
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.add_argument(
        "--max-results", type=_number, default=50, metavar="N", help="the most to show; 0: all (default: 50)"
    )
    _add_asked(parser.add_argument_group("how it is asked"))


def _add_installs(commands: "argparse._SubParsersAction[_Parser]") -> None:
    install = commands.add_parser("install", help="install language servers", description=_INSTALL_DESCRIPTION)
    install.add_argument("ids", nargs="*", metavar="ID", help="a server; without any, those that the files here need")
    install.add_argument("--list", action="store_true", help="list what can be installed, and what is")
    install.add_argument("--dry-run", action="store_true", help="tell what would be done, and do nothing")
    uninstall = commands.add_parser("uninstall", help="remove a language server", description="Remove a server.")
    uninstall.add_argument("id", metavar="ID", help="a server that `install` installed")
    trust = commands.add_parser("trust", help="let servers run a folder's own programs", description=_TRUST_DESCRIPTION)
    trust.add_argument(
        "path", nargs="?", metavar="PATH", help="a folder, with all below it; without one, those trusted are listed"
    )
    trust.add_argument("--remove", action="store_true", help="trust it no longer")
    for command in (install, uninstall):
        command.add_argument("--sys-prefix", action="store_true", help="in this environment, for all its users")


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a file, a folder, or - for standard input")
    _add_selection(parser)
    _add_servers(parser)
    _add_baselines(parser)
    _add_output(parser)


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("which files")
    group.add_argument("--include", action="append", default=[], metavar="GLOB", help="other files of a folder, too")
    group.add_argument("--exclude", action="append", default=[], metavar="GLOB", help="files of a folder to leave out")
    group.add_argument("--stdin-filename", metavar="NAME", help="the name of what - reads")


def _add_servers(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how they are checked")
    _add_asked(group)
    group.add_argument("--jobs", type=_positive_number, metavar="N", help="how many files at a time")


def _add_asked(group: "argparse._ArgumentGroup") -> None:
    group.add_argument("--server", metavar="ID", help="this server alone, without fallback")
    group.add_argument("--python", metavar="PATH", help="the interpreter whose packages the code uses")
    group.add_argument(
        "--timeout",
        type=_positive_seconds,
        default=60.0,
        metavar="S",
        help="seconds for a file, from when a server takes it up (default: 60)",
    )


def _add_baselines(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what they are compared with")
    group.add_argument("--since", metavar="REV", help="show only what is new against this git revision")
    group.add_argument("--baseline", metavar="FILE", help="show only what this file does not know")
    group.add_argument("--write-baseline", metavar="FILE", help="write what is found into this file, for --baseline")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is shown")
    group.add_argument("--format", choices=FORMATS, default="text", help="default: text")
    for word in ("json", "jsonl"):
        group.add_argument(
            f"--{word}", dest="format", action="store_const", const=word, default="text", help=f"for --format {word}"
        )
    group.add_argument("--severity", choices=SEVERITIES, help="the least that counts (default: error)")
    group.add_argument("--ignore", action="append", default=[], metavar="CODE", help="leave out findings of this code")
    group.add_argument(
        "--max-per-cell", type=_number, default=10, metavar="N", help="the most of one cell; 0: all (default: 10)"
    )
    group.add_argument(
        "--max-total", type=_number, default=20, metavar="N", help="the most of one file; 0: all (default: 20)"
    )
    group.add_argument("--quiet", action="store_true", help="only files with something to show")
    group.add_argument("--no-progress", action="store_true", help="no progress bar on standard error")
    group.add_argument("--exit-zero", action="store_true", help="exit with 0 where it would be 1")
    group.add_argument(
        "--strict",
        action="store_true",
        help="exit with 2 also for notebooks of a folder in a language that is not supported or whose server is not"
        " installed",
    )


def _take_traits(argv: Sequence[str]) -> tuple[list[str], Traits]:
    """The arguments without the traits, which may stand anywhere before `--`."""
    rest: list[str] = []
    traits = Traits()
    waiting = list(argv)
    while waiting:
        argument = waiting.pop(0)
        if argument == "--":
            return [*rest, argument, *waiting], traits
        match = _TRAIT.fullmatch(argument)
        if match is None:
            rest.append(argument)
        else:
            traits.values.setdefault(match["name"], []).append(_trait_value(match, waiting))
    return rest, traits


def _trait_value(match: re.Match[str], waiting: list[str]) -> str:
    if match["value"] is not None:
        return match["value"]
    if not waiting:
        raise UsageError(f"--LspAgent.{match['name']} needs a value: --LspAgent.{match['name']}=VALUE")
    return waiting.pop(0)


def _number(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 0 or more")
    return number


def _positive_number(text: str) -> int:
    if (number := _number(text)) == 0:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


def _positive_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return seconds
