"""From what an agent asks about a stored document to what the checking service is asked."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.errors import InvalidRequestError, NotebookError
from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.report import ContentSource, DocumentKind, NoVerdictReason, Report
from jupyter_lsp_agent.notebook.cell_refs import CellNames
from jupyter_lsp_agent.notebook.model import Notebook
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.service.agent_requests import AgentCheck, AgentEdit, AgentQuestion
from jupyter_lsp_agent.service.documents import document_kind
from jupyter_lsp_agent.service.editing import EditOutcome
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.stores import OpenedDocument
from jupyter_lsp_agent.service.threads import beside_the_loop


async def check_of(asked: AgentCheck, document: OpenedDocument, user: str) -> CheckRequest:
    """The check of a document, stored, shared or proposed.

    Raises:
        InvalidRequestError: a cell is named that cannot be meant.
        UnknownCellError: a cell is named that is not there.
    """
    question, proposed = asked.question, asked.content
    shown = document if proposed is None else replace(document, data=proposed, source=ContentSource.REQUEST)
    comparison = Comparison(
        baseline=question.baseline,
        session=_key(question, user),
        before_bytes=None if proposed is None or asked.remember else document.data,
        keeps=asked.remember or (proposed is None and not asked.touch),
    )
    view = await beside_the_loop(len(shown.data), lambda: _view(question, shown))
    request = plain_check(shown, comparison, view=view, severity=question.severity)
    return replace(request, given_names=asked.given_names)


def plain_check(
    document: OpenedDocument,
    comparison: Comparison,
    *,
    view: ViewOptions | None = None,
    severity: DiagnosticSeverity | None = None,
) -> CheckRequest:
    """The check of a document as it is."""
    return CheckRequest(
        path=document.location,
        display_path=document.name,
        content_bytes=document.data,
        content_source=document.source,
        named=document.boundary,
        severity=severity,
        view=view or ViewOptions(),
        comparison=comparison,
    )


def check_after_edit(asked: AgentEdit, outcome: EditOutcome, user: str) -> CheckRequest:
    """The check of what a batch of edits made."""
    question = asked.question
    comparison = Comparison(
        baseline=question.baseline,
        session=_key(question, user),
        before_bytes=outcome.before.data,
        keeps=not asked.dry_run,
    )
    source = ContentSource.REQUEST if asked.dry_run else outcome.before.source
    document = replace(outcome.before, data=outcome.data, source=source)
    view = replace(question.view, cells=outcome.shown, edited_cells=outcome.touched)
    return plain_check(document, comparison, view=view, severity=question.severity)


def _key(question: AgentQuestion, user: str) -> SessionKey | None:
    return None if question.session is None else SessionKey(user, question.session)


def _view(question: AgentQuestion, document: OpenedDocument) -> ViewOptions:
    if question.cells is None:
        return question.view
    if document_kind(document.location) is not DocumentKind.NOTEBOOK:
        raise InvalidRequestError(f'{document.name} has no cells: leave "cells" out')
    names = CellNames(parse_notebook(document).cells)
    return replace(question.view, cells=frozenset(names.find(ref, '"cells"') for ref in question.cells))


def parse_notebook(document: OpenedDocument) -> Notebook:
    """The notebook of a document.

    Raises:
        InvalidRequestError: it is none that can be read.
    """
    try:
        return read_notebook(document.data, document.name)
    except NotebookError as error:
        raise InvalidRequestError(str(error)) from None


def no_verdict(name: str | None, reason: NoVerdictReason, detail: str) -> Report:
    """A report that says why there is no verdict."""
    kind = document_kind(Path(name or ""))
    facts = ReportFacts(path=name, kind=kind, text=None, content_source=None, checked_at=datetime.now(UTC))
    return no_verdict_report(facts, reason, detail)
