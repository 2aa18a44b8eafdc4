"""The catalogue: every entry well-formed, every name one server's, and a user's choices over it."""

import re
from pathlib import Path, PurePath

import pytest

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.servers.catalogue_text import RUN_TITLE, render_catalogue
from jupyter_lsp_agent.servers.commands import CommandSearch
from jupyter_lsp_agent.servers.registry import ServerRegistry, read_catalogue
from jupyter_lsp_agent.servers.templates import template_variables

REGISTRY = ServerRegistry()
SPECS = list(REGISTRY)


def ids(specs):
    return [str(spec.server_id) for spec in specs]


def test_the_catalogue_names_no_server_twice():
    names = [name for spec in SPECS for name in (spec.server_id, *spec.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("spec", SPECS, ids=ids(SPECS))
def test_every_entry_is_well_formed(spec):
    assert re.fullmatch(r"[a-z][a-z0-9-]*", spec.server_id)
    assert spec.title
    assert spec.documents
    assert spec.command
    assert re.match(r"ran \S+ \d{4}-\d\d|unproven: \S", spec.evidence)
    assert all(extension.startswith(".") and extension == extension.lower() for extension in spec.extensions)
    assert all(marker and not marker.startswith("/") for marker in (*spec.root_markers, *spec.exclusion_markers))
    assert not (spec.install.pypi and spec.install.npm)
    assert spec.install.pypi or spec.install.npm or spec.install.hint
    if spec.interpreter and spec.interpreter.runs:
        # What would run an interpreter needs another form for one that may only be read, or has nothing to read.
        assert (
            spec.interpreter.read_only_settings or spec.interpreter.settings or spec.interpreter.initialization_options
        )


IN_OTHER_REGISTRIES = """
    pyright-langserver ty typescript-language-server tsc deno vscode-eslint-language-server oxlint biome
    vue-language-server svelteserver astro-ls prisma-language-server gopls rust-analyzer sourcekit-lsp clangd zls
    bash-language-server powershell-editor-services yaml-language-server docker-langserver terraform-ls nixd
    lua-language-server intelephense laravel-lsp ruby-lsp rubocop perl dart gleam elixir-ls clojure-lsp
    haskell-language-server-wrapper ocamllsp julia jdtls kotlin-language-server kotlin-lsp roslyn-language-server
    fsautocomplete texlab tinymist
"""
"""The programs that Hermes Agent and OpenCode start as language servers, by the names of these, 2026-11."""


def test_every_server_of_the_registries_of_agents_is_there():
    programs = {Path(spec.command[0]).name for spec in SPECS}
    assert set(IN_OTHER_REGISTRIES.split()) - programs == set()


def test_what_agents_start_for_a_language_may_be_asked_for():
    asked = {"kotlin": "kotlin-lsp", "ruby": "rubocop", "csharp": "roslyn-language-server", "razor": None}
    for language, server in asked.items():
        chained = [name for chain in REGISTRY.chains(language) for name in ids(chain)]
        assert (server in chained) if server else chained == [], language


def test_every_template_names_known_variables(tmp_path):
    variables = template_variables(tmp_path, CommandSearch((), (), ()), None)
    assert set(re.findall(r"\{([a-z_]+)\}", read_catalogue())) - {"id"} <= set(variables)


def test_every_package_of_every_recipe_is_pinned_to_one_version():
    for spec in SPECS:
        for requirement in spec.install.pypi:
            assert re.fullmatch(r"[\w.-]+==\d[\w.]*", requirement), requirement
        for package in spec.install.npm:
            assert re.fullmatch(r"(@[\w.-]+/)?[\w.-]+@\d+\.\d+\.\d+", package), package


def test_the_default_chain_of_python():
    assert [ids(chain) for chain in REGISTRY.chains("python")] == [
        ["ty", "basedpyright", "pyright", "pyrefly", "zuban", "pylsp", "jedi"]
    ]


@pytest.mark.parametrize("name", ["python", "py", "Python", "ipython"])
def test_a_language_has_several_names(name):
    assert REGISTRY.chains(name) == REGISTRY.chains("python")


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("a/b.blade.php", "blade"),
        ("a.b.php", "php"),
        ("Dockerfile", "dockerfile"),
        ("B.PYI", "python"),
        ("x.unheard-of", None),
        ("Makefile.unheard-of", None),
    ],
)
def test_the_language_of_a_file(path, language):
    assert REGISTRY.language_of(PurePath(path)) == language


@pytest.mark.parametrize(
    ("setting", "chains"),
    [
        (["pyright", "ty"], [["pyright", "ty"]]),
        ("ruff", [["ruff"]]),
        ([["ty", "basedpyright"], ["ruff"]], [["ty", "basedpyright"], ["ruff"]]),
        ([], []),
    ],
)
@pytest.mark.parametrize("name", ["python", "py"])
def test_a_user_chooses_one_chain_or_several(setting, chains, name):
    registry = ServerRegistry({name: setting})
    assert [ids(chain) for chain in registry.chains("python")] == chains


def test_a_server_that_is_switched_off_leaves_its_chains():
    registry = ServerRegistry(
        {"python": [["ty", "pyright"], ["ruff"]]}, {"ty": {"enabled": False}, "ruff": {"enabled": False}}
    )
    assert [ids(chain) for chain in registry.chains("python")] == [["pyright"]]


def test_all_switched_off_is_not_the_same_as_unknown():
    registry = ServerRegistry({"python": ["ty"]}, {"ty": {"enabled": False}})
    assert registry.chains("python") == ()
    assert registry.is_known("python")
    assert not registry.is_known("unheard-of")


@pytest.mark.parametrize(
    ("servers", "server_settings", "said"),
    [
        ({"python": ["unheard-of"]}, {}, "unheard-of"),
        ({"python": [1]}, {}, "servers['python']"),
        ({"python": {"ty": True}}, {}, "servers['python']"),
        ({"cobol": ["ty"]}, {}, "does not speak cobol"),
        ({}, {"ty": {"comand": ["ty"]}}, "comand"),
        ({}, {"ty": {"command": "ty server"}}, "list"),
        ({}, {"ty": {"enabled": "no"}}, "true or false"),
        ({}, {"ty": {"settings": []}}, "table"),
        ({}, {"ty": ["x"]}, "table"),
        ({}, {"unheard-of": {}}, "unheard-of"),
    ],
)
def test_a_wrong_setting_is_named(servers, server_settings, said):
    with pytest.raises(SettingsError) as raised:
        ServerRegistry(servers, server_settings)
    assert said in str(raised.value)


def test_an_entry_with_an_unknown_key_is_refused():
    text = '[chains]\n[servers.x]\ntitle = "X"\ndocuments = []\ncommand = ["x"]\nrootmarkers = []\n'
    with pytest.raises(SettingsError, match=r"'x'.*rootmarkers"):
        ServerRegistry(catalogue=text)


def test_the_page_about_the_servers_is_made_from_the_catalogue():
    page = Path(__file__).parents[2] / "docs/SERVERS.md"
    made, _, _ = page.read_text(encoding="utf-8").partition(f"\n{RUN_TITLE}")
    assert made == render_catalogue(REGISTRY)
