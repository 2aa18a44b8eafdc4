"""`%lsp_check --auto on`: after each run, what is new.

The kernel's thread hands the work over and waits for the blink of an eye. A verdict that is there by then is the last
output of the cell; a later one takes the place of a line that says that it is awaited, or in a terminal, where nothing
can be put into what was written, comes before the next run. Nothing is raised into a user's cell.
"""

import concurrent.futures
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from jupyter_lsp_agent.core.errors import JupyterLspAgentError

_BLINK_SECONDS = 0.02
_LOGGER = logging.getLogger("jupyter_lsp_agent")

if TYPE_CHECKING:
    from collections.abc import Callable

    from jupyter_lsp_agent.frontends.magic.news import News, Told
    from jupyter_lsp_agent.frontends.magic.result import LspCheck

    Future = concurrent.futures.Future[LspCheck]


class AutoCheck:
    """Checks after each run of one shell.

    Args:
        shell: an `InteractiveShell`.
        submit: begins a check of what is new, and does not wait for it.
        only_asks: whether a cell does nothing but ask for checks, so that it brings nothing new.
    """

    def __init__(self, shell: Any, submit: "Callable[[], Future]", only_asks: "Callable[[str], bool]") -> None:
        self._shell = shell
        self._submit = submit
        self._only_asks = only_asks
        self._is_on = False
        self._under_way: Future | None = None
        self._late: Future | None = None
        self._told: Told | None = None

    def switch_on(self) -> None:
        """Check after each run, this one too."""
        if not self._is_on:
            self._shell.events.register("post_run_cell", self.after_run)
            self._is_on = True

    def switch_off(self) -> None:
        """Check no more."""
        if self._is_on:
            with suppress(ValueError):  # whoever cleared the shell's callbacks took ours too
                self._shell.events.unregister("post_run_cell", self.after_run)
            self._is_on = False
        if self._under_way is not None:
            self._under_way.cancel()

    def after_run(self, result: Any) -> None:
        """A cell has run."""
        if not result.info.store_history or (self._told is not None and self._only_asks(result.info.raw_cell)):
            return
        try:
            self._check()
        except Exception as error:
            # Whatever it is, it is not the user's cell that failed: raised here, it would be shown as if it were.
            _LOGGER.debug("the check after a run failed", exc_info=error)
            self._show(_failure(error))

    def _check(self) -> None:
        self._tell_late()
        # The first verdict says what is old: it is not cut short.
        if self._under_way is not None and self._told is not None and self._told.has_begun:
            self._under_way.cancel()
        self._under_way = future = self._submit()
        try:
            concurrent.futures.wait([future], _BLINK_SECONDS)
        except KeyboardInterrupt:
            future.cancel()
            return
        if future.done():
            self._show(self._news(future))
        elif self._can_update:
            from jupyter_lsp_agent.frontends.magic.news import News

            handle = self._show(News("lsp: checking …"), awaited=True)
            future.add_done_callback(lambda done: handle.update(self._news(done)))
        else:
            self._late = future

    def _tell_late(self) -> None:
        """In a terminal: the verdict on an earlier run, if it has come."""
        late, self._late = self._late, None
        if late is not None and late.done() and not late.cancelled():
            self._show(self._news(late))

    @property
    def _can_update(self) -> bool:
        """Whether what was shown can be changed: in a kernel's front ends it can."""
        return hasattr(self._shell, "kernel")

    def _show(self, news: "News", *, awaited: bool = False) -> Any:
        from IPython.display import display

        return display(news, display_id=True) if awaited else display(news)

    def _news(self, future: "Future") -> "News":
        """What is told of a check that is done, whichever way."""
        from jupyter_lsp_agent.frontends.magic.news import News, Told

        if future.cancelled():
            return News("lsp: see the next run")
        error = future.exception()
        if error is not None:
            _LOGGER.debug("the check after a run failed", exc_info=error)
            return _failure(error)
        self._told = self._told or Told()
        return News.of(self._told.news(future.result()))


def _failure(error: BaseException) -> "News":
    from jupyter_lsp_agent.frontends.magic.news import News
    from jupyter_lsp_agent.service.unforeseen import describe_unforeseen

    is_told = isinstance(error, JupyterLspAgentError)
    return News(f"lsp: {error if is_told else describe_unforeseen(error)}")
