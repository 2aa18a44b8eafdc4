import logging
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.service.settings import (
    Settings,
    SettingsSource,
    describe_settings,
    environment_source,
    load_settings,
    merge_settings,
)

# The table of the public interface, name for name.
DEFAULTS = {
    "enabled": True,
    "wait_ms": 3000,
    "first_wait_ms": 15000,
    "initialize_timeout_s": 45,
    "startup_timeout_s": 30,
    "servers": {},
    "server_settings": {},
    "severity": DiagnosticSeverity.ERROR,
    "ignore": (),
    "ignore_cell_tags": ("skip-lsp-check",),
    "exclude": (),
    "kernel_names": (),
    "python_cell_magics": (),
    "edited_outputs": "keep",
    "allow_edits": True,
    "follow_saves": True,
    "install_strategy": "manual",
    "workspace": "root_dir",
    "trusted_roots": (),
    "idle_timeout_s": 600,
    "broken_retry_s": 600,
    "max_servers": 8,
    "max_open_documents": 64,
    "max_server_rss_mb": 2048,
}


def environment(**variables):
    """The settings of an environment alone."""
    return load_settings(
        environ={f"JUPYTER_LSP_AGENT_{name}": text for name, text in variables.items()}, configuration=()
    )


def test_every_name_exists_with_its_default():
    assert {name: getattr(Settings(), name) for name in describe_settings()} == DEFAULTS
    assert load_settings(environ={}, configuration=()) == Settings()


@pytest.mark.parametrize("name", DEFAULTS)
def test_every_default_is_a_value_that_may_be_given(name):
    assert getattr(merge_settings([SettingsSource("a test", {name: DEFAULTS[name]})]), name) == DEFAULTS[name]


def test_order_of_the_sources():
    configuration = (
        SettingsSource("strong", {"wait_ms": 3, "first_wait_ms": 3, "max_servers": 3}),
        SettingsSource("weak", {"wait_ms": 4, "first_wait_ms": 4, "max_servers": 4, "max_open_documents": 4}),
    )
    environ = {"JUPYTER_LSP_AGENT_WAIT_MS": "2", "JUPYTER_LSP_AGENT_FIRST_WAIT_MS": "2"}
    settings = load_settings({"wait_ms": 1}, environ=environ, configuration=configuration)
    assert (settings.wait_ms, settings.first_wait_ms, settings.max_servers, settings.max_open_documents) == (1, 2, 3, 4)
    assert settings.given == {"wait_ms", "first_wait_ms", "max_servers", "max_open_documents"}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("ENABLED", "0", False),
        ("ENABLED", "False", False),
        ("ENABLED", "yes", True),
        ("WAIT_MS", "250", 250),
        ("WAIT_MS", "0", 0),
        ("IDLE_TIMEOUT_S", "1.5", 1.5),
        ("IDLE_TIMEOUT_S", "0", 0),
        ("BROKEN_RETRY_S", "0", 0),
        ("SEVERITY", "warning", DiagnosticSeverity.WARNING),
        ("IGNORE", '["F401", "E5"]', ("F401", "E5")),
        ("EXCLUDE", "['a', 'b']", ("a", "b")),
        ("SERVERS", '{"python": [["ty"], ["ruff"]]}', {"python": (("ty",), ("ruff",))}),
        ("SERVERS", '{"python": ["ty", "pyright"]}', {"python": (("ty", "pyright"),)}),
        ("SERVER_SETTINGS", '{"ty": {"enabled": false}}', {"ty": {"enabled": False}}),
        ("TRUSTED_ROOTS", '["/srv"]', (Path("/srv"),)),
    ],
)
def test_environment(name, text, value):
    assert getattr(environment(**{name: text}), name.lower()) == value


def test_an_empty_variable_says_nothing():
    assert environment(WAIT_MS="") == Settings()


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("enabled", "maybe", "true or false"),
        ("enabled", 1, "true or false"),
        ("wait_ms", -1, "whole number of at least 0"),
        ("wait_ms", True, "whole number of at least 0"),
        ("wait_ms", 1.5, "whole number of at least 0"),
        ("max_servers", 0, "whole number of at least 1"),
        ("idle_timeout_s", -1, "number of seconds, 0 or more"),
        ("idle_timeout_s", float("nan"), "number of seconds, 0 or more"),
        ("initialize_timeout_s", 0, "number of seconds, more than 0"),
        ("severity", "fatal", '"error", "warning", "information", "hint"'),
        ("severity", 1, '"error", "warning", "information", "hint"'),
        ("install_strategy", "always", '"manual", "auto", "off"'),
        ("ignore", "F401", "list of texts"),
        ("ignore", [1], "list of texts"),
        ("exclude", ["ok", "!"], "list of globs"),
        ("servers", ["ty"], "table of languages"),
        ("servers", {"python": []}, "table of languages"),
        ("servers", {"python": [["ty"], "ruff"]}, "table of languages"),
        ("server_settings", {"ty": 1}, "table of server ids"),
        ("trusted_roots", ["relative"], "list of absolute folders"),
        ("trusted_roots", "/srv", "list of absolute folders"),
    ],
)
def test_a_wrong_value_names_source_name_value_and_what_is_allowed(name, value, allowed):
    with pytest.raises(SettingsError) as caught:
        merge_settings([SettingsSource("the file x", {name: value})])
    assert f"the file x: {name} is {value!r}" in str(caught.value)
    assert allowed in str(caught.value)


def test_a_wrong_variable_is_named_as_it_was_written():
    with pytest.raises(SettingsError, match=r"^JUPYTER_LSP_AGENT_WAIT_MS is 'soon', but it must be a whole number"):
        environment(WAIT_MS="soon")


def test_a_wrong_value_is_told_even_where_a_stronger_source_wins():
    with pytest.raises(SettingsError):
        load_settings({"wait_ms": 1}, environ={"JUPYTER_LSP_AGENT_WAIT_MS": "x"}, configuration=())


def test_traits_of_the_command_line_are_texts():
    typed = {"wait_ms": ["1", "2"], "exclude": ["a", "b"], "ignore": ['["c", "d"]'], "kernel_names": ["spark"]}
    settings = load_settings(typed=typed, environ={}, configuration=())
    assert (settings.wait_ms, settings.exclude, settings.ignore, settings.kernel_names) == (
        2, ("a", "b"), ("c", "d"), ("spark",),
    )  # fmt: skip


def test_a_misspelt_name_is_told_and_a_strange_one_let_be(caplog):
    with caplog.at_level(logging.WARNING, "jupyter_lsp_agent"):
        environment(WAIT_M="3", SHARED="/x", INTERNAL_THING="1")
    assert [record.getMessage() for record in caplog.records] == [
        "the environment names a setting 'wait_m' that does not exist; 'wait_ms' does"
    ]


def test_other_variables_are_not_ours():
    assert environment_source({"HOME": "/h", "JUPYTER_CONFIG_PATH": "/c"}).values == {}
