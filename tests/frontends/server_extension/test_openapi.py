"""`openapi.yaml` against the interface's own words and against what a real server answers."""

import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from jupyter_lsp_agent.frontends.server_extension.handlers import PREFIX, ROUTES
from tests.support.jupyter_server import PACKAGE_ROOT
from tests.support.small_notebooks import write_notebook

_FILE = PACKAGE_ROOT / "jupyter_lsp_agent" / "frontends" / "server_extension" / "openapi.yaml"
_DESCRIPTION = yaml.safe_load(_FILE.read_text())


def _validate(value, schema) -> None:
    document = {**schema, "components": _DESCRIPTION["components"]}
    Draft202012Validator(document, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(value)


def _answer_schema(route: str, verb: str, status: int):
    response = _DESCRIPTION["paths"][f"{PREFIX}/{route}"][verb]["responses"][str(status)]
    if "$ref" in response:
        response = _DESCRIPTION["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    return response["content"]["application/json"]["schema"]


def test_it_describes_every_route_and_no_other():
    served = {pattern.replace(r"([\w.-]+)", "{id}").replace("\\", "") for pattern, _ in ROUTES} - {f"{PREFIX}/.*"}
    assert set(_DESCRIPTION["paths"]) == served


def test_it_is_served_as_it_is(server):
    answer = server.get("openapi.yaml")
    assert answer.headers["Content-Type"].startswith("application/yaml")
    assert answer.body == _FILE.read_bytes()


@pytest.mark.parametrize("name", _DESCRIPTION["components"]["schemas"])
def test_its_schemas_are_schemas(name):
    Draft202012Validator.check_schema(_DESCRIPTION["components"]["schemas"][name])


_EXAMPLES = [
    (media["schema"], example["value"])
    for path in _DESCRIPTION["paths"].values()
    for operation in path.values()
    for media in operation.get("requestBody", {}).get("content", {}).values()
    for example in media.get("examples", {}).values()
]


@pytest.mark.parametrize(("schema", "example"), _EXAMPLES)
def test_its_examples_are_in_its_schemas(schema, example):
    _validate(example, schema)


def test_the_example_of_a_report_is_one():
    report = _DESCRIPTION["components"]["schemas"]["Report"]
    for example in report["examples"]:
        _validate(example, report)


_AT_A = {"cell": 1, "line": 1, "column": 1}
_QUESTIONS = [
    *({"method": method, **_AT_A} for method in ("hover", "definition", "references", "signature_help")),
    {"method": "signature_help", "cell": 1, "line": 1, "column": 7},
    {"method": "document_symbols"},
    {"method": "workspace_symbols", "query": "a"},
    {"method": "definition", "cell": 2, "line": 1, "column": 1},
    {"method": "definition", "cell": 9, "line": 1, "column": 1},
    {"method": "definition", **_AT_A, "wait_ms": 0},
    {"method": "rename"},
]


def test_what_is_answered_is_in_the_schema(server, folder):
    write_notebook(folder / "n.ipynb", "a: int = 'x'", "print(zzz)", "%%html\n<b>")
    (folder / "a.py").write_text("print(zzz)\n")
    path = f"{folder.name}/n.ipynb"
    get = [
        ("status", {}),
        ("cells", {"path": path, "session": "s"}),
        ("cells", {"path": "none"}),
        ("cells", {}),
        ("sessions", {}),
    ]
    edit = {"op": "replace", "cell": 1, "source": "print(a)"}
    post = [
        ("check", {"path": path}),
        ("check", {"path": path, "session": "s", "touch": True}),
        ("check", {"path": f"{folder.name}/a.py"}),
        ("check", {"path": path, "wait_ms": 0}),
        ("check", {}),
        *(("query", {"path": path, **asked}) for asked in _QUESTIONS),
        ("query", {"path": f"{folder.name}/a.py", "method": "document_symbols"}),
        ("edits", {"path": path, "session": "s", "edits": [edit]}),
        ("edits", {"path": path, "edits": [edit], "if_hash": "x"}),
        ("edits", {"path": path, "edits": [{"op": "delete", "cell": "zz"}]}),
        ("baseline", {"path": path, "session": "s", "action": "accept"}),
        ("baseline", {"path": path, "session": "new", "action": "reset"}),
    ]
    seen = set()
    for route, query in get:
        answer = server.get(route, **query)
        _validate(answer.json, _answer_schema(route, "get", answer.status))
        seen.add((route, answer.status))
    for route, body in post:
        answer = server.post(route, **body)
        _validate(answer.json, _answer_schema(route, "post", answer.status))
        seen.add((route, answer.status))
    restarted = server.post("servers/ty/restart")
    _validate(restarted.json, _answer_schema("servers/{id}/restart", "post", restarted.status))
    assert {status for _, status in seen} == {200, 400, 404, 409}, json.dumps(sorted(seen))
