"""Installing missing servers unasked, where `install_strategy` is "auto": beside the checks, never in one.

A check that misses a server says at once that it is being installed, and the next in the chain answers meanwhile. Of a
chain one server is tried, the first that is missing and has a recipe; one install runs at a time, and one of a server
in all processes together (the installer's lock). What failed is remembered, for this process and for a day on the
disk, and told; `install` by hand tries again at once.

Only the catalogue's pinned recipes are carried out, and only for servers that the user's own settings or command name:
a workspace that chooses servers can choose none that is not there, and here it has no say.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_lsp_agent.core.clock import Clock, time_limit
from jupyter_lsp_agent.core.errors import InstallError, InstallStoppedError
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.servers.commands import CommandSearch, missing_needs
from jupyter_lsp_agent.servers.install import Installer, is_installable
from jupyter_lsp_agent.servers.installed import forget_failure, read_failure, write_failure
from jupyter_lsp_agent.servers.registry import ServerRegistry
from jupyter_lsp_agent.servers.spec import ServerSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jupyter_lsp_agent.service.places import Place

_LOGGER = logging.getLogger("jupyter_lsp_agent")
_LONGEST_SECONDS = 900.0
"""How long one install may take."""


class InstallState(StrEnum):
    """What became of an install that nobody asked for."""

    INSTALLING = "installing"
    INSTALLED = "installed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class InstallAttempt:
    """One server, how far its install is, and a sentence where it failed."""

    server_id: ServerId
    state: InstallState
    problem: str | None = None

    def sentence(self) -> str:
        """What became of it, for people."""
        if self.state is InstallState.INSTALLED:
            return f"{self.server_id} was missing and is installed now; the next check of its files asks it"
        if self.state is InstallState.FAILED:
            return f"{self.server_id} was missing, and installing it failed: {self.problem}"
        return (
            f"{self.server_id} is missing and could not be installed in the time there was; "
            f"`jupyter lsp-agent install {self.server_id}` waits for its end"
        )


class BackgroundInstalls:
    """Installs servers beside the checks, into the user's own data folder; used on one event loop.

    Args:
        registry: the catalogue with the user's settings and no workspace's.
        servers: the folder that is filled.
        search: the environment of the installs.
        clock: the time.
        on_installed: called after each that succeeded.
    """

    def __init__(
        self,
        registry: ServerRegistry,
        servers: Path,
        search: CommandSearch,
        clock: Clock,
        on_installed: Callable[[], None] = lambda: None,
    ) -> None:
        self._registry = registry
        self._servers = servers
        self._search = search
        self._installer: Installer | None = None
        self._clock = clock
        self._on_installed = on_installed
        self._attempts: dict[ServerId, InstallAttempt] = {}
        self._turn = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    def want(self, spec: ServerSpec, chain: "Sequence[ServerSpec]", place: "Place", root: Path) -> str | None:
        """A check misses `spec`: have it installed where that may be, and say what becomes of it.

        Args:
            spec: the server.
            chain: the chain that it stands in.
            place: of the document.
            root: the workspace root that it would be started for.

        Returns:
            A sentence in place of the usual advice; `None` where there is nothing to say beside that.
        """
        if spec.server_id not in self._attempts and self._may_begin(spec, chain, place, root):
            self._begin(spec)
        attempt = self._attempts.get(spec.server_id)
        if attempt is None or attempt.state is InstallState.INSTALLED:
            return None
        if attempt.state is InstallState.INSTALLING:
            return (
                f"{spec.title} is not installed on this machine and is being installed now; "
                "check again when it is there, which `jupyter lsp-agent status` tells"
            )
        return f"{spec.title} is not installed on this machine, and installing it unasked failed: {attempt.problem}"

    @property
    def attempts(self) -> tuple[InstallAttempt, ...]:
        """What was tried, in the order of the trying."""
        return tuple(self._attempts.values())

    @property
    def has_installed(self) -> bool:
        """Whether there is a server now that was missing."""
        return any(attempt.state is InstallState.INSTALLED for attempt in self.attempts)

    def forget(self, server_id: ServerId) -> None:
        """Forget that an install failed, so that the next check tries again."""
        attempt = self._attempts.get(server_id)
        if attempt is not None and attempt.state is not InstallState.INSTALLING:
            del self._attempts[server_id]
        forget_failure(self._servers, server_id)

    @property
    def under_way(self) -> tuple[ServerId, ...]:
        """What is being installed, or waits for its turn."""
        return tuple(one.server_id for one in self.attempts if one.state is InstallState.INSTALLING)

    async def settle(self, limit_seconds: float) -> None:
        """Wait for what is under way, no longer than `limit_seconds`."""
        if self._tasks:
            try:
                async with time_limit(self._clock, limit_seconds):
                    await asyncio.gather(*self._tasks)
            except TimeoutError:
                _LOGGER.warning("what is still being installed after %.0f s is given up", limit_seconds)

    async def aclose(self) -> None:
        """End what is under way; nothing of it is kept."""
        self._is_closed = True
        if self._installer is not None:
            self._installer.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _may_begin(self, spec: ServerSpec, chain: "Sequence[ServerSpec]", place: "Place", root: Path) -> bool:
        """Whether an install of `spec` may be begun unasked."""
        override = self._registry.override(spec.server_id)
        return (
            not self._is_closed
            and is_installable(spec)
            and not any(other.server_id in self._attempts for other in chain)
            and override.command is None  # another command is meant than the recipe's
            and self._is_the_users_choice(spec, place)
            and (not spec.runs_workspace_programs or place.search.is_trusted(root))  # it would not be started
            and not missing_needs(spec, place.search)  # it would find nothing
        )

    def _is_the_users_choice(self, spec: ServerSpec, place: "Place") -> bool:
        chains = (chain for language in spec.languages for chain in self._registry.chains(language))
        return place.registry is self._registry or any(spec in chain for chain in chains)

    def _begin(self, spec: ServerSpec) -> None:
        known = read_failure(self._servers, spec.server_id, spec.install)
        if known is not None:
            self._note(spec, InstallState.FAILED, known)
            return
        self._note(spec, InstallState.INSTALLING)
        task = asyncio.get_running_loop().create_task(self._install(spec))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _install(self, spec: ServerSpec) -> None:
        async with self._turn:
            if self._is_closed:
                return
            _LOGGER.info("installing %s, which a check missed", spec.server_id)
            try:
                await self._in_time(spec)
            except InstallStoppedError:
                self._attempts.pop(spec.server_id, None)
            except InstallError as error:
                await asyncio.to_thread(write_failure, self._servers, spec.server_id, spec.install, str(error))
                self._note(spec, InstallState.FAILED, str(error))
                _LOGGER.warning("%s", error)
            else:
                self._note(spec, InstallState.INSTALLED)
                _LOGGER.info("%s is installed", spec.server_id)
                self._on_installed()

    async def _in_time(self, spec: ServerSpec) -> None:
        """Install in a thread, which is stopped after a while.

        Raises:
            InstallError: it failed, or took too long.
        """
        installer = self._installer = Installer(self._servers, self._search)
        late = False

        def give_up() -> None:
            nonlocal late
            late = True
            installer.stop()

        timer = self._clock.call_later(_LONGEST_SECONDS, give_up)
        try:
            await asyncio.to_thread(installer.install, spec)
        except InstallStoppedError:
            if not late:
                raise
            raise InstallError(
                f"{spec.server_id} could not be installed within {_LONGEST_SECONDS:.0f} s; "
                f"run `jupyter lsp-agent install {spec.server_id}` to see why"
            ) from None
        finally:
            timer.cancel()

    def _note(self, spec: ServerSpec, state: InstallState, problem: str | None = None) -> None:
        self._attempts[spec.server_id] = InstallAttempt(spec.server_id, state, problem)
