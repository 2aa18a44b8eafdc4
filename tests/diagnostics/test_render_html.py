"""HTML and Markdown of reports: nothing of others' texts is taken for markup, nothing is lost."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.core.positions import CellLine
from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.render_html import render_html
from jupyter_lsp_agent.diagnostics.render_markdown import render_markdown
from jupyter_lsp_agent.diagnostics.report import CellReference, NoVerdictReason, Report, Status, Unchecked
from tests.diagnostics.test_read_json import rich
from tests.diagnostics.test_report_laws import checks
from tests.support.reports import code_cells, diagnostic, facts, finding, report

HOSTILE = [
    "<script>alert(1)</script>",
    "</code></td></table><img src=x onerror=alert(1)>",
    "a ``` b ```` c",
    "one | two || three",
    "costs $5 and $x^2$ and $$y$$ \\(z\\) \\[w\\]",
    "\u202egnp.exe\u202c and \u2066 isolate",
    "&lt;b&gt; &amp; &#36; \"quoted\" 'single'",
    "[click](javascript:alert(1)) ![x](y) **bold** _it_ ~~s~~ @user #12",
    "\\begin{equation}x\\end{equation}",
    "{{ 7*7 }} {% raw %}",
]
VOID = {"br"}
# What JupyterLab's sanitizer leaves of an output that is not trusted (packages/apputils/src/sanitizer.ts of 4.6).
KEPT_ELEMENTS = re.compile(
    "bdi|br|caption|code|details|div|li|p|s|small|span|strong|summary|table|tbody|td|th|thead|tr|ul?"
)
KEPT_ATTRIBUTES = {"class", "dir", "style", "scope", "rowspan"}
KEPT_STYLES = {
    "border-collapse": "collapse",
    "border-top": r"\d+px solid",
    "caption-side": "top",
    "font-weight": "bold",
    "word-break": "break-all",
    "padding": r"(?:(?:\d+px|0)\s*){1,4}",
    "text-align": "left",
    "text-decoration": "underline",
    "vertical-align": "top",
    "white-space": "pre-wrap",
}


class Page(HTMLParser):
    """Reads strictly: every element is closed in order, and no attribute is one that may act."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.loose: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] not in {"span"}:
            self.loose.append(data)
        for tag in set(self.open):
            self.texts[tag][-1] += data

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = unknown_decl = handle_pi = handle_comment


def check(told: Report) -> Page:
    page = Page(render_html(told))
    for tag, attributes in page.elements:
        assert KEPT_ELEMENTS.fullmatch(tag)
        assert attributes.keys() <= KEPT_ATTRIBUTES
        for style in filter(None, (attributes.get("style") or "").split(";")):
            name, value = style.split(":")
            assert re.fullmatch(KEPT_STYLES[name], value), style
    # No formula can begin: MathJax does not look across elements.
    assert not any(sign in text for text in page.loose for sign in "$\\")
    return page


def with_texts(text: str) -> Report:
    cells = (replace(code_cells(text)[0], cell_id=CellId(text)),)
    one = finding(0, message=text, code=text, source=text, column=1, end_column=4)
    unchecked = (Unchecked(CellReference(0), CellLine(0), CellLine(0), text),)
    return report(cells, one, path=text, unchecked=unchecked)


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_others_stay_texts_in_html(text):
    told = with_texts(text)
    page = check(told)
    shown = next(iter(told))
    assert page.texts["bdi"] == [shown.message]
    assert page.texts["code"] == [shown.source_line]
    assert page.texts["u"] == [shown.source_line[1:4]]
    assert told.path in page.texts["caption"][0]
    assert f"{told.path}: {page.texts['caption'][0].split(': ', 1)[0]}".startswith(told.path)


@given(checks())
def test_any_report_is_sound_html(made):
    cells, findings, view = made
    told = report(cells, *findings, view=view)
    page = check(told)
    assert len(page.texts.get("bdi", [])) == len(list(told))


def test_the_head_is_that_of_the_text():
    for told in (rich(), report(code_cells("x")), no_verdict_report(facts(), NoVerdictReason.TIMEOUT, "wait <longer>")):
        head = told.to_text().split("\n")[0]
        page = check(told)
        said = page.texts["caption"][0] if "caption" in page.texts else page.texts["p"][0]
        assert said == head
        first = render_markdown(told).split("\n")[0]
        assert unescaped(first.replace("**", "")) == head


def test_a_table_can_be_read_aloud():
    told = report(code_cells("xy", "zz"), finding(0), finding(0, column=1), finding(1))
    page = check(told)
    headers = [attributes for tag, attributes in page.elements if tag == "th"]
    assert [header["scope"] for header in headers] == ["col"] * 4 + ["rowgroup"] * 2
    assert [header.get("rowspan") for header in headers[4:]] == ["2", "1"]
    assert page.texts["th"][:4] == ["Cell", "Line", "Severity", "Finding"]
    assert page.texts["th"][4:] == ["0 c0", "1 c1"]
    assert len(page.texts["caption"]) == 1


def test_what_has_no_width_is_marked_all_the_same():
    page = check(report(code_cells("x = ("), finding(0, column=5, end_column=5)))
    assert page.texts["u"] == ["\N{NO-BREAK SPACE}"]
    assert page.texts["code"] == ["x = (\N{NO-BREAK SPACE}"]


def test_long_texts_are_cut_as_in_the_text():
    line = "x" * 500 + "HERE" + "y" * 500
    told = report(code_cells(line), finding(0, column=500, end_column=504, message="m" * 400))
    page = check(told)
    assert page.texts["bdi"] == ["m" * 299 + "…"]
    assert page.texts["u"] == ["HERE"]
    assert len(page.texts["code"][0]) <= 200
    assert "m" * 299 + "…" in render_markdown(told)
    assert max(map(len, render_markdown(told).split("\n")[1:])) < 400


def test_what_is_cut_fixed_elsewhere_and_unchecked_is_told():
    many = [finding(0, column=n, end_column=n + 1) for n in range(12)]
    for text in (unescaped_html(rich()), unescaped(render_markdown(rich()))):
        assert "2 findings fixed" in text
        assert "a.py: 1 new error" in text
        assert "c.ipynb: no errors any more" in text
        assert "1 cell not wholly checked (cell 1: why)" in text
        assert "(through the change of cell 1)" in text
    for text in (
        unescaped_html(report(code_cells("x" * 20), *many)),
        render_markdown(report(code_cells("x" * 20), *many)),
    ):
        assert "… 2 more in cell 0" in text


def unescaped_html(told: Report) -> str:
    return "".join(check(told).texts["div"])


def unescaped(markdown: str) -> str:
    """What inline Markdown without any markup says, with `**` taken out."""
    plain = re.sub(r"</?span>", "", markdown.replace("**", ""))
    return re.sub(r"\\(.)", r"\1", plain)


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_others_stay_texts_in_markdown(text):
    told = with_texts(text)
    rendered = render_markdown(told)
    shown = next(iter(told))
    head, item, *fenced = [line for line in rendered.split("\n") if line]
    assert unescaped(head) == told.to_text().split("\n")[0]
    assert unescaped(item.replace("**", "")) == "- " + told.to_text().split("\n")[1]
    for line in (head, item):
        bare = re.sub(r"\\.", "", line.replace("**", "")).replace("<span>", "").replace("</span>", "")
        assert not re.search(r"[<>`*\[\]|~$]", bare), bare
        assert not re.search(r"(?<!span>)[@#]\w", bare.replace("c0", "")) or "<span>" in line
    fence = re.fullmatch(r" {2}(`{3,})text", fenced[0])[1]
    assert fenced[-1] == f"  {fence}"
    assert fenced[1] == f"  {shown.source_line.rstrip()}"
    assert not any(fence in line for line in fenced[1:-1])


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("`$|<>*_[]\\#@&~"), max_size=40))
def test_a_fence_is_longer_than_any_in_its_line(line):
    told = report(code_cells("x" + re.sub(r"[\r\n]", " ", line)), finding(0))
    first, *_, last = render_markdown(told).split("\n")[4:]
    assert first == f"{last}text"
    assert set(last.strip()) == {"`"}
    assert render_markdown(told).count(last.strip()) == 2


def test_findings_below_the_asked_severity_do_not_hide():
    view = ViewOptions(severity=DiagnosticSeverity.WARNING)
    told = report(code_cells("x"), finding(0, severity=DiagnosticSeverity.WARNING), view=view)
    assert "warning" in unescaped_html(told)
    everything = ViewOptions(statuses=frozenset(Status))
    older = report(code_cells("x"), finding(0, Status.PREEXISTING), view=everything, baseline="session")
    assert "error (older)" in unescaped_html(older)
    assert diagnostic().message in unescaped_html(older)
