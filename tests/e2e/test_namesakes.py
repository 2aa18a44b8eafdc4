"""Modules beside a notebook that have a namesake where servers look first, held against Python in that folder."""

import functools
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.imports import said_and_failing
from tests.support.real_servers import TYPE_CHECKERS

FILES = {
    "pyproject.toml": "",
    "utils.py": "far = 1\n",
    "helpers/more.py": "far = 1\n",
    "src/tools.py": "far = 1\n",
    "chapters/one/utils.py": "near = 1\n",
    "chapters/one/helpers.py": "near = 1\n",
    "chapters/one/tools/__init__.py": "near = 1\n",
    "chapters/one/tools/part.py": "deep = 1\n",
    "chapters/one/traitlets.py": "near = 1\n",
    "chapters/one/secrets.py": "near = 1\n",
    "chapters/one/alone.py": "near = 1\n",
    "1-one/utils.py": "near = 1\n",
    "ipykernel/utils.py": "near = 1\n",
}
SOURCES = (
    "import utils\nutils.near",
    "import utils\nutils.far",
    "from utils import near",
    "from utils import far",
    "import os, utils as u, json\nu.near, os.sep, json.dumps",
    "import os, utils as u\nu.far",
    "def f():\n    from utils import near\n    return near",
    "try:\n    from utils import near as n\nexcept ImportError:\n    n = 0",
    "from helpers import near",
    "from helpers import far",
    "import tools\ntools.near",
    "import tools.part\ntools.part.deep",
    "import tools.part as p\np.deep",
    "import tools.part as p\np.far",
    "from tools.part import deep",
    "from tools.part import far",
    "from tools import part\npart.deep",
    "from tools import *\nnear",
    "import traitlets\ntraitlets.near",
    "from traitlets import HasTraits as far",
    "from alone import near",
    "from alone import far",
)
SHORT = ("import utils\nutils.near", "from utils import near as n\nn", "import utils as u, os\nos.sep, u.near")
CASES = {
    "chapters/one/n.ipynb": SOURCES,
    "chapters/one/standard.ipynb": ("import secrets\nsecrets.near",),
    "chapters/one/moved.ipynb": ("import sys\nsys.path.insert(0, '../..')", "import utils\nutils.far"),
    "1-one/n.ipynb": SHORT,
    "ipykernel/n.ipynb": SHORT,
}
TOLD = frozenset({"chapters/one/n.ipynb"})
pytestmark = pytest.mark.timeout(300)


@functools.cache
def results(server: str) -> dict[str, tuple[set[int], set[int]]]:
    """Notebook → the cells with an error, and those that fail."""
    with TemporaryDirectory() as folder:
        return said_and_failing(server, Path(folder).resolve(), FILES, CASES)


@pytest.mark.parametrize("server", TYPE_CHECKERS)
@pytest.mark.parametrize("notebook", CASES)
def test_the_module_beside_the_notebook_is_the_one_that_is_meant(server: str, notebook: str) -> None:
    said, failed = results(server)[notebook]
    assert said == failed
    assert failed == {number for number, source in enumerate(CASES[notebook]) if notebook in TOLD and "far" in source}
