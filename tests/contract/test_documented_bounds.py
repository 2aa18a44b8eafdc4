"""The bounds that the pages for agents name are those of the code."""

from pathlib import Path

import pytest

from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.render_delta import FLOOD
from jupyter_lsp_agent.diagnostics.render_text import MAX_FIXED
from jupyter_lsp_agent.service.dependents import MAX_REMEMBERED
from jupyter_lsp_agent.service.other_files import MAX_FILES, MAX_FINDINGS
from jupyter_lsp_agent.service.sessions import SessionLimits

LIMITS = SessionLimits()
HOURS = f"{LIMITS.max_idle_seconds / 3600:g} hours"
REST = (
    f"{LIMITS.max_sessions:,} sessions of a server, {LIMITS.max_files} documents of a session, and",
    f"a session for {HOURS}",
    f"More than {FLOOD} new findings are summed up",
    f"the last {MAX_REMEMBERED} documents checked",
    f"At most {MAX_FILES} files and {MAX_FINDINGS} findings of each",
    f"caps, {ViewOptions().max_per_cell} and {ViewOptions().max_total}",
)
AGENTS = (
    f"the last {MAX_REMEMBERED} documents that were checked: at most {MAX_FILES} of them, {MAX_FINDINGS} findings each",
    f"names the first {MAX_FIXED}",
    f"capped at {ViewOptions().max_total} findings",
    f"more than {FLOOD} new ones",
    f"{HOURS} is forgotten, as is the longest unused of more than {LIMITS.max_files} documents",
)


@pytest.mark.parametrize(
    ("page", "said"), [*(("REST.md", said) for said in REST), *(("AGENTS.md", said) for said in AGENTS)]
)
def test_a_bound_is_told_as_it_is(page: str, said: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    assert said in " ".join(text.split())
