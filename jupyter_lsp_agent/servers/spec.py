"""The schema of the catalogue: what one language server is, as a frozen value.

Everything that distinguishes one server from another is data here, so that no other code asks for a server's name.
Templates may hold the variables that `templates` lists; a value whose variable is not known is left out. Decoding from
TOML is in `decode`; looking entries up is in `registry`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jupyter_lsp_agent.core.behaviour import ServerBehaviour
from jupyter_lsp_agent.core.ids import LanguageId, ServerId


@dataclass(frozen=True, slots=True)
class DocumentKind:
    """One kind of document that a server takes.

    Attributes:
        language: our name of the language, the key of the chains: `python`, `typescript`, `bash`, …
        language_id: what `didOpen` says (LSP's `languageId`).
        extensions: with the dot, lower case.
        file_names: whole names, such as `Dockerfile`.
    """

    language: str
    language_id: LanguageId
    extensions: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InterpreterHandover:
    """How a server is told of the Python that a document means, and what it would do with it.

    Attributes:
        runs: it runs the interpreter that it is given, or finds; false where it only reads the environment.
        workspace_config: files of the workspace that configure it and can make it run programs whatever it is given:
            a name, or `name:text` where the file must hold the text. Unless one of them lies in a root that is
            trusted, it gets its read-only form.
        environment: it takes `VIRTUAL_ENV`, and `PATH` where the interpreter may be run.
        settings: laid over its settings where it may have the interpreter as it is.
        initialization_options: likewise for `initialize`.
        read_only_settings: laid over its settings instead, where the interpreter must not be run.
        read_only_initialization_options: likewise for `initialize`.
        config_name: the name of a configuration file of our own, written into our data folder for the read-only form
            and named by `{config_file}`; empty for none.
        config_text: its text; variables become JSON values, and a line that names an unknown one is left out.
    """

    runs: bool = False
    workspace_config: tuple[str, ...] = ()
    environment: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    initialization_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    read_only_settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    read_only_initialization_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    config_name: str = ""
    config_text: str = ""


@dataclass(frozen=True, slots=True)
class InstallRecipe:
    """How a server comes onto a machine: at most one of `pypi` and `npm`, pinned; else a sentence for a person.

    Attributes:
        pypi: requirements for an environment of its own.
        npm: packages for a folder of its own.
        hint: what to do by hand, where there is no recipe or beside it.
        program_folder: where the program lies below the server's own folder, where it is no usual place; a glob.
    """

    pypi: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    hint: str = ""
    program_folder: str = ""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """One language server.

    Attributes:
        server_id: its key in the catalogue.
        title: its name for people.
        aliases: other names under which it may be asked for.
        documents: what it takes.
        command: argument list template; the first item is looked up by `commands`.
        root_markers: names, or globs, that make a folder its workspace root; the nearest wins.
        exclusion_markers: names that say, nearer than any root marker, that it is not the server for that folder.
        initialization_options: template, sent with `initialize`.
        settings: template of the tree that answers `workspace/configuration`.
        interpreter: how it is told of a Python; `None` for a server that has no use for one.
        behaviour: its behaviour class.
        startup_timeout_seconds: for the handshake, where it needs longer than the configured time; else `None`.
        environment: variables set for it (templates).
        private_folder: variables that name a folder of its own for each process, for a server that would otherwise
            share a process of its own with whoever else of the user runs it: another workspace, an editor.
        opt_in: in no chain unless a user puts it there.
        needs_root_marker: in a folder without one of its root markers it says nothing, which would look clean.
        project_files: name → text of a project of ours in which it looks at a notebook's cells, where it looks only
            at files of a project.
        runs_workspace_programs: it runs programs or configuration of the workspace whatever it is told.
        runs_where_it_stands: it runs what it finds in its working folder, and takes the workspace's from LSP: where the
            workspace is not trusted, it stands in an empty folder of ours.
        needs: programs beside it without which its silence would say nothing.
        install: how it is got.
        evidence: `ran VERSION DATE`, or `unproven: SOURCE`.
    """

    server_id: ServerId
    title: str
    documents: tuple[DocumentKind, ...]
    command: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    root_markers: tuple[str, ...] = ()
    exclusion_markers: tuple[str, ...] = ()
    initialization_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    interpreter: InterpreterHandover | None = field(default=None, hash=False)
    behaviour: ServerBehaviour = field(default_factory=ServerBehaviour)
    startup_timeout_seconds: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    private_folder: tuple[str, ...] = ()
    opt_in: bool = False
    needs_root_marker: bool = False
    project_files: Mapping[str, str] = field(default_factory=dict, hash=False)
    runs_workspace_programs: bool = False
    runs_where_it_stands: bool = False
    needs: tuple[str, ...] = ()
    install: InstallRecipe = field(default_factory=InstallRecipe)
    evidence: str = ""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages it takes, in the catalogue's order, without repeats."""
        return tuple(dict.fromkeys(kind.language for kind in self.documents))

    @property
    def extensions(self) -> tuple[str, ...]:
        """The file extensions it takes, with the dot."""
        return tuple(dict.fromkeys(extension for kind in self.documents for extension in kind.extensions))

    @property
    def proven(self) -> bool:
        """Whether it was run with this package's client."""
        return self.evidence.startswith("ran ")

    def takes(self, language: str) -> bool:
        """Whether it takes documents of `language`."""
        return any(kind.language == language for kind in self.documents)

    def language_id(self, language: str, extension: str = "") -> LanguageId:
        """What `didOpen` says for `language`; the extension tells kinds of one language apart (`.ts`, `.tsx`)."""
        kinds = [kind for kind in self.documents if kind.language == language]
        exact = [kind for kind in kinds if extension.lower() in kind.extensions]
        return (exact or kinds)[0].language_id


@dataclass(frozen=True, slots=True)
class ServerOverride:
    """What a user's configuration says about one server (`server_settings`)."""

    enabled: bool = True
    command: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    initialization_options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
