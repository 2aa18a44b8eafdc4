"""`%lsp_check`, its arguments and its manners: a mistake is one line, an interrupt ends the wait, and nothing is run.

The kernel's thread takes a picture of what the kernel knows and waits; the work is done on a thread beside it.
"""

import logging
import os
import shlex
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.errors import JupyterLspAgentError, RequestTimeoutError
from jupyter_lsp_agent.frontends.magic.auto import AutoCheck
from jupyter_lsp_agent.frontends.magic.execution_log import ExecutionLog
from jupyter_lsp_agent.frontends.magic.question import KernelQuestion
from jupyter_lsp_agent.frontends.magic.surroundings import read_surroundings
from jupyter_lsp_agent.service.blocking import BlockingPortal, BlockingProvider

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from jupyter_lsp_agent.frontends.magic.checks import KernelChecks
    from jupyter_lsp_agent.frontends.magic.result import LspCheck
    from jupyter_lsp_agent.service.settings import Settings

_SEVERITIES = {severity.name.lower(): severity for severity in DiagnosticSeverity}
_GRACE_SECONDS = 0.2
_COUNT_SECONDS = 0.5
"""How long a completion may wait for the notebook's cells."""

_LOGGER = logging.getLogger("jupyter_lsp_agent")


@magics_class
class LspMagics(Magics):
    """The magic of one shell.

    Args:
        shell: an `InteractiveShell`.
    """

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._log = ExecutionLog(shell)
        self._auto = AutoCheck(shell, self._submit_news, _only_asks)
        self._open = ExitStack()
        self._portal: BlockingPortal[KernelChecks] | None = None
        self._settings: Settings | None = None
        self._has_answered = False
        self._process = os.getpid()
        self._opening = threading.Lock()
        self._inherited: list[ExitStack] = []

    def start(self) -> None:
        """Listen to what runs; nothing else is begun."""
        self._log.start()

    def stop(self) -> None:
        """Forget the shell, and end what was begun for it."""
        self._auto.switch_off()
        self._log.stop()
        self.close()

    def close(self) -> None:
        """Stop the language servers. In a forked child they are its parent's, and so are the threads."""
        self._portal = None
        if os.getpid() == self._process:
            self._open.close()

    @no_var_expand
    @magic_arguments()
    @argument("path", nargs="?", metavar="PATH", help="a notebook or file; without it the notebook of this kernel")
    @argument("--all", action="store_true", help="show everything: no caps, older findings too")
    @argument("--severity", choices=tuple(_SEVERITIES), help="the least severity that counts (the settings': error)")
    @argument("--server", metavar="ID", help="ask this language server alone")
    @argument("--baseline", metavar="none|session|git:REV", default="none", help="compare with this (none)")
    @argument("--cell", metavar="N", help="show this cell alone: its number, from 0, or its id")
    @argument("--auto", choices=("on", "off"), help="check after every run, and tell what is new")
    @line_cell_magic
    def lsp_check(self, line: str, cell: str | None = None) -> "LspCheck | None":
        """Check this notebook with a language server, without running anything.

        `%lsp_check` checks the notebook of this kernel: the shared document where it is open in one, else the saved
        file, else what ran in this kernel. `%%lsp_check` checks the cell below it, in the notebook's context, and does
        not run it; it shows what is wrong in that cell, with `--all` in the others too. The result has `errors`,
        `verdict`, `to_text()` and `to_dict()`; it is true when there is something to show.
        """
        try:
            return self._run(line, cell)
        except KeyboardInterrupt:
            raise UsageError("interrupted: there is no verdict") from None
        except JupyterLspAgentError as error:
            raise UsageError(str(error)) from None
        except UsageError:
            raise
        except Exception as error:
            # Whatever it is: a traceback through our own code is nothing that a user can use.
            from jupyter_lsp_agent.service.unforeseen import describe_unforeseen

            _LOGGER.debug("the check failed", exc_info=error)
            raise UsageError(describe_unforeseen(error)) from None

    def cell_count(self) -> int:
        """How many cells this kernel's notebook has; 0 where that is not known soon.

        Raises:
            JupyterLspAgentError: it cannot be known.
        """
        question = self._question()
        return self._checks().call(lambda checks: checks.cell_count(question), timeout_seconds=_COUNT_SECONDS)

    def _run(self, line: str, cell: str | None) -> "LspCheck | None":
        options = self._options(line)
        if options.auto is not None:
            self._switch(options, cell)
            return None
        question = self._question(
            path=options.path,
            body=cell,
            everything=options.all,
            severity=None if options.severity is None else _SEVERITIES[options.severity],
            server=options.server,
            baseline=options.baseline,
            cell=options.cell,
        )
        result = self._wait(question, lambda checks: checks.check(question))
        return None if _is_quiet(line) else result

    def _options(self, line: str) -> Any:
        text = line.rstrip().removesuffix(";")
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise UsageError(
                f"%lsp_check: the arguments cannot be read ({str(error).lower()}): {text.strip()}"
            ) from None
        try:
            options = self.lsp_check.parser.parse_args(words)
        except UsageError as error:
            from jupyter_lsp_agent.frontends.magic.mistakes import describe_mistake

            raise UsageError(describe_mistake(words, str(error))) from None
        _require_baseline(options.baseline)
        return options

    def _switch(self, options: Any, cell: str | None) -> None:
        others = options.path or options.all or options.severity or options.server or options.cell
        if others or cell is not None or options.baseline != "none":
            raise UsageError("%lsp_check --auto on|off goes with no other argument")
        if options.auto == "on":
            self._checks()
            self._auto.switch_on()
        else:
            self._auto.switch_off()

    def _question(self, **asked: Any) -> KernelQuestion:
        """What is asked, with a picture of what the kernel knows now."""
        return KernelQuestion(
            around=read_surroundings(self.shell),
            executed=self._log.executions(),
            names=self._log.names(),
            known=self._log.known_names(),
            asking=self._log.asking_cell(),
            **asked,
        )

    def _checks(self) -> "BlockingPortal[KernelChecks]":
        from jupyter_lsp_agent.frontends.magic.checks import KernelChecks
        from jupyter_lsp_agent.service.settings import load_settings

        if os.getpid() != self._process:
            self._begin_anew()
        with self._opening:
            if self._portal is None:
                self._settings = settings = load_settings()
                provider = BlockingProvider(lambda: KernelChecks.open(settings))
                self._portal = self._open.enter_context(provider.lease())
            return self._portal

    def _begin_anew(self) -> None:
        """In a forked child, which has none of its parent's threads: somebody there may have held the lock."""
        self._inherited.append(self._open)  # let go, it would end what is its parent's
        self._process, self._opening, self._open = os.getpid(), threading.Lock(), ExitStack()
        self._portal, self._has_answered = None, False

    def _wait(self, question: KernelQuestion, work: "Callable[[KernelChecks], Any]") -> "LspCheck":
        from jupyter_lsp_agent.frontends.magic.checks import no_verdict
        from jupyter_lsp_agent.service.settings import Settings

        portal, settings = self._checks(), self._settings or Settings()
        longest = (settings.wait_ms if self._has_answered else settings.first_wait_ms) / 1000
        try:
            result: LspCheck = portal.call(work, timeout_seconds=longest + _GRACE_SECONDS)
        except RequestTimeoutError:
            return no_verdict(question, longest)
        self._has_answered = self._has_answered or result.report.counts is not None
        return result

    def _submit_news(self) -> "Future[LspCheck]":
        question = self._question()
        return self._checks().submit(lambda checks: checks.check_news(question))


def _only_asks(source: str) -> bool:
    from jupyter_lsp_agent.service.kernel_view import is_own_magic

    return is_own_magic(source)


def _is_quiet(line: str) -> bool:
    """`%lsp_check ;` shows nothing, as IPython has it of its own magics. A cell below may end like this as it likes."""
    return line.rstrip().endswith(";")


def _require_baseline(baseline: str) -> None:
    if baseline in {"none", "session"} or (baseline.startswith("git:") and len(baseline) > len("git:")):
        return
    raise UsageError(f"%lsp_check: --baseline is {baseline}, but it must be none, session or git:REV")
