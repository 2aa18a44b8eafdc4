"""Reports as a stream of text, in the format that was asked for.

A format is a renderer: what goes before the first report, the text of each, and what goes after the last. Reports
are written as they come, in order; of all formats only `json` needs a bracket at the end.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from jupyter_lsp_agent.diagnostics.render_github import render_github
from jupyter_lsp_agent.diagnostics.render_json import render_json
from jupyter_lsp_agent.diagnostics.render_text import render_text
from jupyter_lsp_agent.diagnostics.report import Report


class OutputFormat(StrEnum):
    """How reports are written."""

    TEXT = "text"
    JSON = "json"
    JSONL = "jsonl"
    GITHUB = "github"


@dataclass(frozen=True, slots=True)
class Renderer:
    """One format.

    Attributes:
        render: one report, without a final line end; empty where this format has nothing to say of it.
        opening: before the first report.
        end: after each report.
        separator: between two reports.
        closing: after the last one.
        nothing: in place of all of it, where there is no report.
    """

    render: Callable[[Report], str]
    opening: str = ""
    end: str = "\n"
    separator: str = ""
    closing: str = ""
    nothing: str = ""


def _indented_json(report: Report) -> str:
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=2)


RENDERERS: Mapping[OutputFormat, Renderer] = {
    OutputFormat.TEXT: Renderer(render_text),
    OutputFormat.JSON: Renderer(
        _indented_json, opening="[\n", end="", separator=",\n", closing="\n]\n", nothing="[]\n"
    ),
    OutputFormat.JSONL: Renderer(render_json),
    OutputFormat.GITHUB: Renderer(render_github),
}
"""Every format that there is."""
