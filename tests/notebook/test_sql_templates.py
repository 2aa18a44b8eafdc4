"""Templates in SQL bodies: what is sent is as wide, and what is no template is as it was."""

import pytest

from jupyter_lsp_agent.core.positions import TextPosition
from jupyter_lsp_agent.notebook.virtual_document import BuildOptions, build_virtual_documents
from tests.support.notebooks import python_notebook


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        ("select * from t where a = {low}", "select * from t where a = xxxxx"),
        ("select * from {{ table }} limit {{n}}", "select * from xxxxxxxxxxx limit xxxxx"),
        ("select * from t where a in {ids}", "select * from t where a in (xxx)"),
        ("select * from t where a IN {{ids}}", "select * from t where a IN (xxxxx)"),
        ("{% if x %}select 1{% endif %}", "          select 1           "),
        ("select '{}'", "select 'xx'"),
        ("select :a, $b, ? from t", "select :a, $b, ? from t"),
        ("select 1", "select 1"),
    ],
)
def test_a_template_is_as_wide_as_what_is_sent(body: str, sent: str) -> None:
    built = build_virtual_documents(python_notebook(f"%%sql\n{body}"), BuildOptions())
    document = built.documents[-1]
    assert document.text == f"{sent}\n"
    assert len(sent) == len(body)
    for column, character in enumerate(body):
        if character == sent[column] and character not in "x ":
            assert document.line_map.to_virtual(0, TextPosition(1, column)) == TextPosition(0, column)


def test_other_languages_keep_their_braces() -> None:
    built = build_virtual_documents(python_notebook("%%bash\necho {a,b}"), BuildOptions())
    assert built.documents[-1].text == "echo {a,b}\n"
