"""Asking a chain of servers for its diagnostics of one text."""

from dataclasses import dataclass

from jupyter_lsp_agent.core.diagnostic import Diagnostic
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.diagnostics.baseline import Judge
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, ServerReport
from jupyter_lsp_agent.diagnostics.wording import counted
from jupyter_lsp_agent.lsp.client import DiagnosticReport, LanguageClient
from jupyter_lsp_agent.pool.fallback import Answer
from jupyter_lsp_agent.service.chain_calls import (
    Call,
    ChainCaller,
    ChainSilence,
    Question,
    failed_server,
    silence,
    tidy_version,
    with_mend,
)


@dataclass(frozen=True, slots=True)
class ChainAnswer:
    """What one chain said of the text, and who of it could not be had."""

    diagnostics: tuple[Diagnostic, ...]
    servers: tuple[ServerReport, ...]
    judge: Judge


@dataclass(frozen=True, slots=True)
class _Spoken:
    """What the client that spoke gave, with what the report says of it."""

    report: DiagnosticReport
    version: str | None


class Asker:
    """Asks chains for diagnostics.

    Args:
        caller: calls them.
    """

    def __init__(self, caller: ChainCaller) -> None:
        self._caller = caller

    async def ask(self, question: Question) -> ChainAnswer | ChainSilence:
        """What the chain says."""
        answer = await self._caller.call(
            question, Call(name="diagnostics", ask=_diagnose, wanted="verdict", again="check")
        )
        if isinstance(answer, ChainSilence):
            return answer
        if dropped := answer.value.report.dropped:
            # What could not be read may have been the error: the rest is no verdict.
            detail = f"{answer.key.server_id} sent {counted(dropped, 'finding')} that cannot be read"
            return silence(question, NoVerdictReason.BROKEN, with_mend(detail))
        return _chain_answer(question, answer)


async def _diagnose(client: LanguageClient, document: TextDocument) -> _Spoken:
    return _Spoken(await client.diagnose(document), client.server_version)


def _chain_answer(question: Question, answer: Answer[_Spoken]) -> ChainAnswer:
    spoken = answer.value
    server = ServerReport(
        id=answer.key.server_id,
        language=question.language,
        version=tidy_version(spoken.version),
        fallback=answer.fallback,
        freshness=spoken.report.freshness,
        elapsed_seconds=spoken.report.elapsed_seconds,
    )
    failed = tuple(failed_server(question, failure) for failure in answer.failures)
    return ChainAnswer(spoken.report.diagnostics, (*failed, server), Judge(server.id, server.version))
