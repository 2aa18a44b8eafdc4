"""Which documents an edit can reach: by the names they import and the files they run."""

from pathlib import PurePosixPath

import pytest

from jupyter_lsp_agent.service.dependents import (
    RecentDocuments,
    Reference,
    affected_documents,
    find_references,
)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import helpers", {"helpers"}),
        ("import a.b as c, d", {"a.b", "d"}),
        ("from a.b import c as x, d", {"a.b", "a.b.c", "a.b.d"}),
        ("from a import (b,\n    c)", {"a", "a.b", "a.c"}),
        ("from . import b", {".b"}),
        ("from ..a import b", {"..a", "..a.b"}),
        ("from a import *", {"a"}),
        ("def f():\n    import late", {"late"}),
        ("import a; import b; from c import d", {"a", "b", "c", "c.d"}),
        ("try: import a\nexcept ImportError: from b import c", {"a", "b", "b.c"}),
        ("import a, \\\n    b\nfrom c import d, \\\n    e", {"a", "b", "c", "c.d", "c.e"}),
        ("%time import a", {"a"}),
        ("import a\r\nimport b", {"a", "b"}),
        ("%run helpers.py", {"helpers"}),
        ("%run -i 'lib/other.ipynb' arg", {"other"}),
        ("%matplotlib inline\nimport x", {"x"}),
        ("print('import nothing')  # import nothing", set()),
        ("important = 1", set()),
    ],
)
def test_what_a_source_names(source: str, names: set[str]) -> None:
    assert {"." * found.level + ".".join(found.parts) for found in find_references([source])} == names


def reach(edited: str, documents: dict[str, str]) -> list[str]:
    known = {PurePosixPath("/w", path): find_references([source]) for path, source in documents.items()}
    found = affected_documents(PurePosixPath("/w", edited), known)
    return [str(path.relative_to("/w")) for path in found]


@pytest.mark.parametrize(
    ("edited", "documents", "expected"),
    [
        pytest.param("helpers.py", {"a.ipynb": "import helpers", "b.ipynb": "import other"}, ["a.ipynb"], id="import"),
        pytest.param("lib/helpers.py", {"a.ipynb": "from lib.helpers import f"}, ["a.ipynb"], id="dotted"),
        pytest.param("lib/helpers.py", {"a.ipynb": "from lib import helpers"}, ["a.ipynb"], id="from its package"),
        pytest.param("lib/__init__.py", {"a.ipynb": "import lib.helpers"}, ["a.ipynb"], id="the package itself"),
        pytest.param("src/lib/x.py", {"a.ipynb": "import lib.x"}, ["a.ipynb"], id="below a source folder"),
        pytest.param("lib/helpers.py", {"a.ipynb": "import other.helpers"}, [], id="another package's"),
        pytest.param("lib/b.py", {"lib/a.py": "from . import b", "x/a.py": "from . import b"}, ["lib/a.py"], id="."),
        pytest.param("b.py", {"lib/a.py": "from .. import b", "lib/c.py": "from . import b"}, ["lib/a.py"], id=".."),
        pytest.param(
            "base.py",
            {"a.ipynb": "import middle", "middle.py": "import base", "c.ipynb": "import x"},
            ["middle.py", "a.ipynb"],
            id="through a module between",
        ),
        pytest.param("a.py", {"b.py": "import a", "a.py": "import b"}, ["b.py"], id="a circle ends"),
        pytest.param("setup.ipynb", {"a.ipynb": "%run setup.ipynb"}, ["a.ipynb"], id="a notebook that is run"),
        pytest.param("numpy.py", {"a.ipynb": "import numpy as np"}, ["a.ipynb"], id="a file that shadows a package"),
    ],
)
def test_what_an_edit_reaches(edited: str, documents: dict[str, str], expected: list[str]) -> None:
    assert reach(edited, documents) == expected


def test_the_last_documents_are_remembered() -> None:
    recent: RecentDocuments[str, int] = RecentDocuments(2)
    for name, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        recent.remember(name, value)
    assert recent.items() == [("c", 4), ("a", 3)]
    recent.forget("a")
    assert recent.get("a") is None
    assert recent.get("c") == 4


def test_a_reference_may_have_no_parts_but_dots() -> None:
    known = {PurePosixPath("/w/a.py"): frozenset({Reference((), 1)})}
    assert affected_documents(PurePosixPath("/w/b.py"), known) == ()
