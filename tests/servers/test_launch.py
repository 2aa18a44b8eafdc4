"""What a server is given: templates filled, environment cleaned, its safe form where it must not run things."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import SpawnFailedError, UntrustedError
from jupyter_lsp_agent.core.ids import LanguageId, ServerId
from jupyter_lsp_agent.servers.commands import CommandSearch, CommandSource, ResolvedCommand
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.servers.launch import build_launch
from jupyter_lsp_agent.servers.spec import DocumentKind, InterpreterHandover, ServerOverride, ServerSpec
from jupyter_lsp_agent.servers.templates import fill, fill_lines, merge

HANDOVER = InterpreterHandover(
    runs=True,
    settings={"py": {"path": "{python}"}},
    initialization_options={"run": True},
    read_only_settings={"py": {"paths": "{search_paths}", "file": "{config_file}"}},
    config_name="served.toml",
    config_text="version = {python_version}\npaths = {search_paths}\nroot = {root}\n",
)
SPEC = ServerSpec(
    server_id=ServerId("served"),
    title="Served",
    documents=(DocumentKind("python", LanguageId("python")),),
    command=("served",),
    settings={"py": {"strict": True}, "version": "{python_version}"},
    interpreter=HANDOVER,
    environment={"SERVED_ROOT": "{root}"},
)
COMMAND = ResolvedCommand(("/bin/served", "--root", "{root}", "--version={python_version}"), CommandSource.PATH)


@pytest.fixture
def search(tmp_path: Path) -> CommandSearch:
    environ = {
        "HOME": "/h",
        "PATH": "ignored",
        "VIRTUAL_ENV": "/v",
        "CONDA_PREFIX": "/c",
        "PYTHONPATH": ".",
        "PYTHONHOME": "/p",
    }
    path = ("/bin", "", "relative", str(tmp_path / "work/bin"))
    return CommandSearch((), path, (), workspace=(tmp_path / "work",), environ=environ, own_data=tmp_path / "data")


@pytest.fixture
def interpreter(tmp_path: Path) -> Interpreter:
    prefix = tmp_path / "work/.venv"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "pyvenv.cfg").touch()
    return Interpreter(prefix / "bin/python", prefix, (tmp_path / "sp",), (3, 12), ".venv")


def launch(tmp_path: Path, search: CommandSearch, interpreter: Interpreter | None, spec: ServerSpec = SPEC, **options):
    return build_launch(spec, COMMAND, tmp_path / "work", search=search, interpreter=interpreter, **options)


def test_an_interpreter_that_may_run_is_handed_over(tmp_path, search, interpreter):
    made = launch(tmp_path, search, interpreter)
    assert made.settings == {"py": {"strict": True, "path": str(interpreter.python)}, "version": "3.12"}
    assert made.initialization_options == {"run": True}
    assert made.command.argv == ("/bin/served", "--root", str(tmp_path / "work"), "--version=3.12")
    assert made.command.cwd == tmp_path / "work"
    assert made.command.environment == {
        "HOME": "/h",
        "VIRTUAL_ENV": str(interpreter.prefix),
        "PATH": f"{interpreter.prefix}/bin{os.pathsep}/bin",
        "SERVED_ROOT": str(tmp_path / "work"),
    }


def test_one_that_may_only_be_read_is_told_as_search_paths_and_is_nowhere_in_the_environment(
    tmp_path, search, interpreter
):
    made = launch(tmp_path, search, replace(interpreter, may_run=False))
    config = Path(made.settings["py"]["file"])
    assert made.settings["py"] == {"strict": True, "paths": [str(tmp_path / "sp")], "file": str(config)}
    assert made.initialization_options is None
    assert made.command.environment["PATH"] == "/bin"
    assert "VIRTUAL_ENV" not in made.command.environment
    assert config.is_relative_to(tmp_path / "data")
    assert config.read_text() == f'version = "3.12"\npaths = ["{tmp_path}/sp"]\nroot = "{tmp_path}/work"\n'


def test_a_server_that_only_reads_gets_the_environment_but_none_of_its_programs(tmp_path, search, interpreter):
    spec = replace(SPEC, interpreter=replace(HANDOVER, runs=False))
    made = launch(tmp_path, search, replace(interpreter, may_run=False), spec)
    assert made.settings["py"]["path"] == str(interpreter.python)
    assert made.command.environment["VIRTUAL_ENV"] == str(interpreter.prefix)
    assert made.command.environment["PATH"] == "/bin"


@pytest.mark.parametrize(
    ("trusted", "files", "obeys"),
    [
        (True, {"served.toml": ""}, True),
        (True, {"pyproject.toml": "[tool.served]"}, True),
        (True, {"pyproject.toml": "[tool.other]"}, False),
        (True, {}, False),
        (False, {"served.toml": ""}, False),
    ],
)
def test_a_workspaces_configuration_is_obeyed_where_it_is_trusted(tmp_path, search, interpreter, trusted, files, obeys):
    for name, text in files.items():
        (tmp_path / "work" / name).write_text(text)
    spec = replace(
        SPEC, interpreter=replace(HANDOVER, workspace_config=("served.toml", "pyproject.toml:[tool.served]"))
    )
    search = replace(search, trusted_roots=(tmp_path,) if trusted else ())
    assert ("path" in launch(tmp_path, search, interpreter, spec).settings["py"]) is obeys


def test_a_server_that_runs_the_workspaces_programs_is_refused_until_it_is_trusted(tmp_path, search):
    spec = replace(SPEC, runs_workspace_programs=True)
    with pytest.raises(UntrustedError, match="jupyter lsp-agent trust") as raised:
        launch(tmp_path, search, None, spec)
    assert raised.value.reason == "untrusted"
    assert launch(tmp_path, replace(search, trusted_roots=(tmp_path,)), None, spec).server_id == "served"


@pytest.mark.parametrize(
    ("tool_versions", "where", "shim", "refused"),
    [
        ("nodejs path:./evil\n", "work", "asdf/shims/node", True),
        ("nodejs path:./evil\n", "work/deep", "asdf/shims/served", True),
        ("nodejs 20.1.0\n", "work", "asdf/shims/node", False),
        ("nodejs path:./evil\n", "work", "bin/node", False),
        # Above the workspace it is the user's own.
        ("nodejs path:./evil\n", ".", "asdf/shims/node", False),
    ],
)
def test_a_version_manager_is_not_sent_into_a_workspace_that_is_not_trusted(
    tmp_path, search, tool_versions, where, shim, refused
):
    root = tmp_path / "work/deep"
    root.mkdir(parents=True)
    (tmp_path / where / ".tool-versions").write_text(tool_versions)
    is_need = shim.endswith("node")
    command = ResolvedCommand(
        ("/bin/served" if is_need else str(tmp_path / shim),), CommandSource.PATH, (tmp_path / shim,) if is_need else ()
    )
    if not refused:
        assert build_launch(SPEC, command, root, search=search).server_id == "served"
        return
    with pytest.raises(UntrustedError, match="version manager"):
        build_launch(SPEC, command, root, search=search)
    trusting = replace(search, trusted_roots=(tmp_path / "work",))
    assert build_launch(SPEC, command, root, search=trusting).server_id == "served"


def test_a_server_that_runs_what_lies_where_it_stands_stands_elsewhere_until_the_folder_is_trusted(tmp_path, search):
    spec = replace(SPEC, runs_where_it_stands=True)
    made = launch(tmp_path, search, None, spec)
    assert made.command.cwd == tmp_path / "data/nowhere"
    assert list(made.command.cwd.iterdir()) == []
    trusting = replace(search, trusted_roots=(tmp_path,))
    assert launch(tmp_path, trusting, None, spec).command.cwd == tmp_path / "work"


def test_a_configuration_file_that_cannot_be_written_is_told(tmp_path, search, interpreter):
    (tmp_path / "data").touch()
    with pytest.raises(SpawnFailedError, match="cannot be written"):
        launch(tmp_path, search, replace(interpreter, may_run=False))


def test_a_users_settings_have_the_last_word(tmp_path, search, interpreter):
    override = ServerOverride(
        environment={"PATH": "/mine"}, initialization_options={"run": False}, settings={"py": {"path": "/mine"}}
    )
    made = launch(tmp_path, search, interpreter, override=override)
    assert made.settings["py"] == {"strict": True, "path": "/mine"}
    assert made.initialization_options == {"run": False}
    assert made.command.environment["PATH"] == "/mine"


@pytest.mark.parametrize(("users", "private"), [({}, ("CACHE",)), ({"CACHE": "/mine"}, ())])
def test_a_folder_of_its_own_is_asked_for_unless_the_user_names_one(tmp_path, search, users, private):
    spec = replace(SPEC, private_folder=("CACHE",))
    made = launch(tmp_path, search, None, spec=spec, override=ServerOverride(environment=users))
    assert made.command.private_folder == private
    assert made.command.environment.get("CACHE") == users.get("CACHE")


def test_without_an_interpreter_nothing_of_one_is_told(tmp_path, search):
    made = launch(tmp_path, search, None)
    assert made.settings == {"py": {"strict": True}}
    assert made.command.argv == ("/bin/served", "--root", str(tmp_path / "work"))


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{list}", ["a", "b"]),
        ("{text}/x", "t/x"),
        ({"a": "{unknown}", "b": {"c": "{text}"}}, {"b": {"c": "t"}}),
        (["{unknown}", "{text}", 1, None], ["t", 1, None]),
        ("${text}", "$t"),
        ({"a": True}, {"a": True}),
    ],
)
def test_templates(template, filled):
    assert fill(template, {"list": ["a", "b"], "text": "t", "unknown": None}) == filled


def test_configuration_files_hold_any_path():
    import tomllib

    path = 'odd "name" \\ [x] é'
    text = fill_lines("a = {path}\nb = {paths}\nc = {unknown}\n", {"path": path, "paths": [path], "unknown": None})
    assert tomllib.loads(text) == {"a": path, "b": [path]}


def test_merging_goes_table_by_table():
    assert merge({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": 3}, "d": [2]}) == {"a": {"b": 3, "c": 2}, "d": [2]}
