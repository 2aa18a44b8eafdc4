"""What came of asking, as an answer: who of a chain has the word, and what is told of the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from jupyter_lsp_agent.diagnostics.facts import ChainFailure
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, ServerReport, Unchecked
from jupyter_lsp_agent.navigation.answer import Found, FoundSymbol, QueryAnswer, QueryMethod
from jupyter_lsp_agent.navigation.placing import in_document_order
from jupyter_lsp_agent.notebook.cell_refs import CellNames
from jupyter_lsp_agent.pool.fallback import Answer
from jupyter_lsp_agent.service.chain_calls import failed_server, with_mend
from jupyter_lsp_agent.service.judging import Content
from jupyter_lsp_agent.service.query_requests import CodeQuestion
from jupyter_lsp_agent.service.query_subjects import Subject


@dataclass(frozen=True, slots=True)
class Said:
    """What one server said: its answer as `lsp.navigation` gives it, or why it gave none."""

    value: Any
    version: str | None
    seconds: float
    refusal: str | None = None
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of asking about one text."""

    found: tuple[Found, ...] = ()
    servers: tuple[ServerReport, ...] = ()
    failure: ChainFailure | None = None
    omitted: int = 0
    unmapped: int = 0


def chosen(reply: Answer[Said]) -> Said | None:
    """The answer that stands: the first that is one."""
    said = [reply.value, *(other.value for other in reply.no_better)]
    return next((one for one in said if one.refusal is None), None)


def refused(subject: Subject, reply: Answer[Said]) -> Outcome:
    """No server of the chain answers such questions, or none could."""
    said = [reply.value, *(other.value for other in reply.no_better)]
    is_unknown = all(one.is_unknown for one in said)
    reason = NoVerdictReason.UNSUPPORTED_LANGUAGE if is_unknown else NoVerdictReason.BROKEN
    detail = with_mend(f"{reply.key.server_id} gave no answer: {reply.value.refusal}")
    failure = ChainFailure(subject.question.language, reason, detail)
    return Outcome(servers=servers_of(subject, reply, None), failure=failure)


def servers_of(subject: Subject, reply: Answer[Said], spoke: Said | None) -> tuple[ServerReport, ...]:
    """Who was asked, in order, and what became of each."""
    heard = [*reply.meagre, reply, *reply.no_better]
    first = heard[0]
    failed = tuple(failed_server(subject.question, failure) for failure in reply.failures)
    return (
        *failed,
        *(
            ServerReport(
                id=one.key.server_id,
                language=subject.question.language,
                version=one.value.version,
                fallback=one.value is spoke and (bool(failed) or one is not first),
                reason=None if one.value is spoke else one.value.refusal or "it found nothing",
                elapsed_seconds=None if one.value.refusal else one.value.seconds,
            )
            for one in heard
        ),
    )


def only_in(content: Content, asked: CodeQuestion, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
    """The symbols of the one cell that was asked for."""
    if asked.method is not QueryMethod.DOCUMENT_SYMBOLS or asked.cell is None:
        return outcomes
    index = CellNames(content.cells).find(asked.cell, '"cell"')

    def is_in_it(one: Found) -> bool:
        cell = one.place.cell if isinstance(one, FoundSymbol) else None
        return cell is not None and cell.cell_index == index

    return [replace(outcome, found=tuple(filter(is_in_it, outcome.found))) for outcome in outcomes]


def joined(asked: CodeQuestion, outcomes: Sequence[Outcome], subjects: Sequence[Subject]) -> QueryAnswer:
    """All outcomes as one. A body of another language without its server is told, and takes nothing from the rest."""
    pairs = list(zip(outcomes, subjects, strict=True))
    decisive = [one for one, subject in pairs if subject.is_main] or list(outcomes)
    failure = next((one.failure for one in decisive if one.failure is not None), None)
    servers = tuple(dict.fromkeys(server for one in outcomes for server in one.servers))
    if failure is not None:
        return QueryAnswer(path="", method=asked.method, servers=servers, reason=failure.reason, detail=failure.detail)
    found = [result for one in outcomes for result in one.found]
    if asked.method is QueryMethod.DOCUMENT_SYMBOLS:
        found = [*in_document_order(result for result in found if isinstance(result, FoundSymbol))]
    shown = found[: asked.max_results] if asked.max_results else found
    omitted = len(found) - len(shown) + sum(one.omitted for one in outcomes)
    unmapped = sum(one.unmapped for one in outcomes)
    return QueryAnswer(
        path="", method=asked.method, results=tuple(shown), omitted=omitted, unmapped=unmapped, servers=servers
    )


def without_what_was_not_seen(asked: CodeQuestion, answer: QueryAnswer, unchecked: Sequence[Unchecked]) -> QueryAnswer:
    """An answer without symbols, which is none where code was not looked at that may well have some."""
    unseen = next((one for one in unchecked if one.cause is not None), None)
    if asked.method is not QueryMethod.DOCUMENT_SYMBOLS or not answer.was_answered or unseen is None:
        return answer
    detail = f"nothing was found, and cell {unseen.cell.cell_index} was not looked at: {unseen.reason}"
    return replace(answer, results=None, reason=unseen.cause, detail=detail)
