"""`openapi.yaml` against the interface's own words and against what a real server answers."""

import hashlib
import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from jupyter_lsp_agent.frontends.server_extension.handlers import PREFIX, ROUTES
from tests.support.jupyter_server import PACKAGE_ROOT, jupyter_server
from tests.support.small_notebooks import notebook_object, write_notebook

_FILE = PACKAGE_ROOT / "jupyter_lsp_agent" / "frontends" / "server_extension" / "openapi.yaml"
_DESCRIPTION = yaml.safe_load(_FILE.read_text())


def _validate(value, schema) -> None:
    document = {**schema, "components": _DESCRIPTION["components"]}
    Draft202012Validator(document, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(value)


def _answer_schema(route: str, verb: str, status: int):
    response = _resolved(_DESCRIPTION["paths"][f"{PREFIX}/{route}"][verb]["responses"][str(status)])
    return response["content"]["application/json"]["schema"]


def _resolved(value):
    """What a reference leads to."""
    while "$ref" in value:
        reference, value = value["$ref"], _DESCRIPTION
        for part in reference.removeprefix("#/").split("/"):
            value = value[part]
    return value


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


_OPERATIONS = {
    f"{verb} {path}": operation for path, verbs in _DESCRIPTION["paths"].items() for verb, operation in verbs.items()
}
_ANSWERS = [
    pytest.param(media, id=f"{operation} {status} {kind}")
    for operation, described in _OPERATIONS.items()
    for status, response in described["responses"].items()
    for kind, media in _resolved(response)["content"].items()
]
_REQUESTS = [
    pytest.param(operation.split("/")[-1], media["schema"], example["value"], id=f"{operation} {name}")
    for operation, described in _OPERATIONS.items()
    for media in described.get("requestBody", {}).get("content", {}).values()
    for name, example in media.get("examples", {}).items()
]
_EXAMPLES = {name: example["value"] for name, example in _DESCRIPTION["components"]["examples"].items()}


@pytest.mark.parametrize(("route", "schema", "example"), _REQUESTS)
def test_the_examples_of_requests_are_in_their_schemas(route, schema, example):
    _validate(example, schema)


@pytest.mark.parametrize("media", _ANSWERS)
def test_every_answer_has_examples_and_they_are_in_its_schema(media):
    assert media["examples"]
    for example in media["examples"].values():
        _validate(_resolved(example)["value"], media["schema"])


def _reports(value):
    """Every report in an example."""
    if isinstance(value, dict):
        if "schema_version" in value and "verdict" in value:
            yield value
        for child in value.values():
            yield from _reports(child)


@pytest.mark.parametrize("name", _EXAMPLES)
def test_the_examples_agree_with_themselves(name):
    for report in _reports(_EXAMPLES[name]):
        found = [finding["status"] for cell in report["cells"] for finding in cell["diagnostics"]]
        shown = {status: found.count(status) for status in ("introduced", "outstanding", "present")}
        counts = report["counts"]
        if report["verdict"] == "no_verdict":
            assert (set(counts.values()), found, report["hint"]) == ({None}, [], report["detail"])
        else:
            assert {status: counts[status] for status in shown} == shown
            assert counts["fixed"] == len(report["fixed"])
            assert (report["verdict"] == "errors") == any(shown.values())
        assert report["content_hash"] in {_EXAMPLES["Cells"]["content_hash"], _EXAMPLES["Edited"]["content_hash"]}


def test_the_examples_agree_with_each_other():
    cells = _EXAMPLES["Cells"]["cells"]
    edited = [{**cells[0]}, {**cells[1], "source": "print(dff)"}]
    for name, contents in (("Cells", cells), ("Edited", edited), ("DryRun", cells)):
        pairs = [[cell["cell_type"], cell["source"]] for cell in contents]
        text = json.dumps(pairs, ensure_ascii=True, separators=(",", ":"))
        assert _EXAMPLES[name]["content_hash"] == _hash(text)
    assert [cell["source_hash"] for cell in cells] == [_hash(cell["source"]) for cell in cells]
    report = _EXAMPLES["Edited"]["report"]
    assert [cell["source_hash"] for cell in report["cells"]] == [_hash("print(dff)")]
    assert (report, report["content_hash"]) == (_EXAMPLES["BrokenReport"], _EXAMPLES["Edited"]["content_hash"])
    assert _EXAMPLES["Sessions"][0]["counts"] == _EXAMPLES["Accepted"]["counts"] == report["counts"]
    assert _EXAMPLES["EditedText"].endswith(_EXAMPLES["BrokenText"])


def _hash(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(("route", "schema", "example"), _REQUESTS)
def test_the_examples_of_requests_are_answered(described_server, route, schema, example):
    route = "servers/ty/restart" if route == "restart" else route
    assert (
        described_server.post(route, **{"wait_ms": 60_000, **example} if route != "baseline" else example).status == 200
    )


@pytest.fixture(scope="module")
def described_root(tmp_path_factory):
    return tmp_path_factory.mktemp("described")


@pytest.fixture(scope="module")
def _running(described_root):
    with jupyter_server(described_root) as running:
        yield running


@pytest.fixture
def described_server(_running):
    """A server with the documents that the examples speak of, as they are when an agent has just broken them."""
    analysis, src = _running.root / "analysis", _running.root / "src"
    analysis.mkdir(exist_ok=True)
    src.mkdir(exist_ok=True)
    content = notebook_object([cell["source"] for cell in _EXAMPLES["Cells"]["cells"]])
    content["cells"][1]["source"] = ["print(dff)"]
    for cell, described in zip(content["cells"], _EXAMPLES["Cells"]["cells"], strict=True):
        cell["id"] = described["cell_id"]
    (analysis / "model.ipynb").write_text(json.dumps(content))
    (src / "api.py").write_text("def load() -> int:\n    retrun 1\n")
    return _running


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
