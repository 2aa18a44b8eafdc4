"""The extension under `jupyter lab` and `jupyter notebook`."""

import pytest

from tests.support.jupyter_server import jupyter_server
from tests.support.small_notebooks import write_notebook

pytest.importorskip("jupyterlab", reason="JupyterLab has an environment of its own (own_environments.sh)")
pytest.importorskip("notebook", reason="Notebook has an environment of its own (own_environments.sh)")


@pytest.mark.parametrize("application", ["jupyterlab", "notebook"])
def test_an_application_has_the_routes(tmp_path, application):
    write_notebook(tmp_path / "n.ipynb", "a = 1", "print(b)")
    with jupyter_server(tmp_path, application=application) as server:
        assert server.send("GET", "jupyter-lsp-agent/status", token=None).status == 403
        report = server.check("n.ipynb")
    assert report["verdict"] == "errors"
    assert [cell["cell_index"] for cell in report["cells"]] == [1]
    assert "jupyter_lsp_agent | extension was successfully loaded" in server.log.text
