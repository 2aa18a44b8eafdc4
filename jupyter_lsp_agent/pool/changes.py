"""Telling servers of what changed on the disk, before they are asked again.

A server's first snapshot is taken before it starts, so that nothing that changes while it starts is missed. What is
then done is in its behaviour: it is told, or replaced.
"""

import asyncio
import logging

from jupyter_lsp_agent.core.behaviour import ChangedFilesReaction, ServerBehaviour
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.lsp.client import FileChange, LanguageClient
from jupyter_lsp_agent.pool.keys import ClientKey
from jupyter_lsp_agent.pool.pool import ClientPool
from jupyter_lsp_agent.pool.snapshots import Changes, Snapshot, Watch, find_changes, take_snapshot

_LOGGER = logging.getLogger("jupyter_lsp_agent")
_MAX_TOLD = 1_000
"""With more changes than this a server is replaced: it would be busy with them for longer than with a start."""


class ChangeTracker:
    """Remembers what each server has seen of the disk.

    Args:
        pool: whose clients are told.
    """

    def __init__(self, pool: ClientPool[LanguageClient]) -> None:
        self._pool = pool
        self._snapshots: dict[ClientKey, Snapshot] = {}
        self._locks: dict[ClientKey, asyncio.Lock] = {}

    async def freshen(self, key: ClientKey, launch: ServerLaunch, watch: Watch) -> None:
        """Make sure that the client of `key` knows the disk as it is now; to be called before it is asked.

        Args:
            key: whose client.
            launch: what starts it; its behaviour says how it is told.
            watch: what is looked at.

        Raises:
            TransportError: the client died while it was told.
        """
        # Whoever comes second waits until the server has been told, and then finds nothing new.
        async with self._locks.setdefault(key, asyncio.Lock()):
            before = self._snapshots.get(key)
            self._forget_stopped()
            now = self._snapshots[key] = await asyncio.to_thread(take_snapshot, watch, before)
            if before is not None and self._pool.is_started(key):
                await self._tell(key, launch, find_changes(before, now))

    def _forget_stopped(self) -> None:
        """Drop what is remembered of clients that neither run nor start."""
        for key in [key for key in self._snapshots if self._pool.launch_of(key) is None]:
            if not self._locks[key].locked():
                del self._snapshots[key], self._locks[key]

    async def _tell(self, key: ClientKey, launch: ServerLaunch, changes: Changes) -> None:
        told = changes.all
        if not told:
            return
        if len(told) > _MAX_TOLD or _wants_restart(launch.behaviour, changes):
            self._pool.replace(key, f"{_what(changes)} changed on disk")
            return
        _LOGGER.debug("%s is told of %d changes on disk", key, len(told))
        await self._notify(key, launch, told)

    async def _notify(self, key: ClientKey, launch: ServerLaunch, told: tuple[FileChange, ...]) -> None:
        async with self._pool.lease(key, launch) as client:
            await client.did_change_watched_files(told)


def _wants_restart(behaviour: ServerBehaviour, changes: Changes) -> bool:
    reactions = (
        (changes.files, behaviour.changed_files),
        (changes.configuration, behaviour.changed_configuration),
        (changes.packages, behaviour.changed_packages),
    )
    return any(changed and reaction is ChangedFilesReaction.RESTART for changed, reaction in reactions)


def _what(changes: Changes) -> str:
    if changes.packages:
        return "packages of the environment"
    return "its configuration" if changes.configuration else "files of the workspace"
