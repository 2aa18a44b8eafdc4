"""Edits of documents: read, compare, plan, write, one batch at a time for each file.

A batch is done against the document as it is when its turn comes. A stale `if_hash` refuses it, so two agents never
lose each other's work; and where somebody else writes in the moment between our reading and our writing, the batch is
planned again on what is there then. A batch that has begun to write is written to its end, whoever gave up on it.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from jupyter_lsp_agent.core.clock import Clock, time_limit
from jupyter_lsp_agent.core.errors import (
    ContentChangedError,
    EditsDisabledError,
    InvalidEditError,
    NotebookError,
    StaleContentError,
)
from jupyter_lsp_agent.diagnostics.hashes import notebook_hash, text_hash
from jupyter_lsp_agent.diagnostics.report import DocumentKind
from jupyter_lsp_agent.notebook.cell_refs import CellNames, CellRef
from jupyter_lsp_agent.notebook.edits import CellEdit, EditedPlace, plan_edits
from jupyter_lsp_agent.notebook.model import Notebook
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.notebook.surgery import EditedOutputs, apply_plan, edit_plain_text
from jupyter_lsp_agent.service.documents import document_kind
from jupyter_lsp_agent.service.stores import DocumentChange, DocumentStore, OpenedDocument, WrittenDocument
from jupyter_lsp_agent.service.threads import beside_the_loop

_MAX_ATTEMPTS = 20
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class EditBatch:
    """Edits of one document, all or none.

    Attributes:
        name: the document, as its store names it.
        edits: in the order in which they are to be done.
        shown: cells that the asker wants to see afterwards, as they were; `None`: all.
        if_hash: the content that the asker means; `None`: whatever is there.
        dry_run: nothing is written.
        patience_seconds: how long it waits for its turn; `None`: as long as it takes.
    """

    name: str
    edits: tuple[CellEdit, ...]
    shown: tuple[CellRef, ...] | None = None
    if_hash: str | None = None
    dry_run: bool = False
    patience_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EditOutcome:
    """What became of a batch.

    Attributes:
        before: the document as it was.
        data: its bytes now; after a dry run, as they would be.
        content_hash: of `data`.
        places: of each edit's cell, in the order of the batch; empty for a plain file.
        touched: the final indexes of the edited cells.
        shown: those of `EditBatch.shown`, without the deleted ones.
        written: how; `None` after a dry run, or where nothing was to be changed.
    """

    before: OpenedDocument
    data: bytes = field(repr=False)
    content_hash: str
    places: tuple[EditedPlace, ...]
    touched: frozenset[int]
    shown: frozenset[int] | None
    written: WrittenDocument | None


OnWritten = Callable[[EditOutcome], Awaitable[None]]
"""Hears of a batch that was written."""


class DocumentEditor:
    """Edits documents of one store.

    Args:
        documents: the store.
        clock: the time.
        outputs: what becomes of the outputs of changed code cells.
        allowed: false: every edit is refused.
    """

    def __init__(self, documents: DocumentStore, clock: Clock, *, outputs: EditedOutputs, allowed: bool) -> None:
        self._documents = documents
        self._outputs = outputs
        self._allowed = allowed
        self._turns = _Turns(clock)

    async def edit(
        self, batch: EditBatch, on_written: Callable[[EditOutcome], Awaitable[None]] | None = None
    ) -> EditOutcome:
        """Do a batch.

        Args:
            batch: the edits.
            on_written: awaited with the outcome once something was written, also where the caller gave up meanwhile;
                the next batch comes after it.

        Raises:
            EditsDisabledError: edits are switched off.
            StaleContentError: the document is not what `if_hash` names.
            InvalidEditError: an edit cannot be done.
            UnknownCellError: an edit names a cell that is not there.
            ContentChangedError: somebody else keeps writing the document, or its turn did not come in time.
        """
        if not (self._allowed or batch.dry_run):
            raise EditsDisabledError("edits are switched off on this server; its owner can set `allow_edits`")
        async with self._turns.of(self._documents.location(batch.name), batch):
            for _ in range(_MAX_ATTEMPTS):
                with suppress(ContentChangedError):
                    return await self._edit_now(batch, on_written or _nobody)
        raise ContentChangedError(f"{batch.name} is being written by somebody else all the time: try again later")

    async def _edit_now(self, batch: EditBatch, on_written: OnWritten) -> EditOutcome:
        document = await self._documents.read(batch.name)
        size = len(document.data)
        change = await beside_the_loop(size, lambda: self._plan(batch, document))
        if batch.dry_run or change.data == document.data:
            return await beside_the_loop(size, lambda: _outcome(batch, document, change, None))

        async def write() -> EditOutcome:
            written = await self._documents.write(document, change, lambda current: self._plan(batch, current))
            outcome = await beside_the_loop(size, lambda: _outcome(batch, written.before, written.change, written))
            await on_written(outcome)
            return outcome

        return await _to_the_end(write())

    def _plan(self, batch: EditBatch, document: OpenedDocument) -> DocumentChange:
        if document_kind(document.location) is not DocumentKind.NOTEBOOK:
            _check_hash(batch, document, lambda: content_hash(document))
            if batch.shown is not None:
                raise InvalidEditError(f'{document.name} has no cells: leave "cells" out')
            return DocumentChange(edit_plain_text(document.data, batch.edits, document.name), None, self._outputs)
        try:
            notebook = read_notebook(document.data, document.name)
            _check_hash(batch, document, lambda: notebook_hash(notebook.cells))
            _find_shown(batch, notebook)
            plan = plan_edits(notebook, batch.edits)
            data = apply_plan(document.data, plan, document.name, self._outputs)
        except NotebookError as error:
            raise InvalidEditError(str(error)) from None
        return DocumentChange(data, plan, self._outputs)


async def _nobody(outcome: EditOutcome) -> None:
    """Nobody wants to know."""


def _outcome(
    batch: EditBatch, before: OpenedDocument, change: DocumentChange, written: WrittenDocument | None
) -> EditOutcome:
    return EditOutcome(
        before=before,
        data=change.data,
        content_hash=content_hash(before, change.data),
        places=change.plan.places if change.plan else (),
        touched=change.plan.touched if change.plan else frozenset(),
        shown=_shown(batch, before, change),
        written=written,
    )


def content_hash(document: OpenedDocument, data: bytes | None = None) -> str:
    """The contract's name for a document's content, or for `data` in its place.

    Raises:
        InvalidEditError: the content cannot be read.
    """
    content = document.data if data is None else data
    try:
        if document_kind(document.location) is DocumentKind.NOTEBOOK:
            return notebook_hash(read_notebook(content, document.name).cells)
        return text_hash(content.decode("utf-8-sig"))
    except (NotebookError, UnicodeDecodeError) as error:
        raise InvalidEditError(str(error)) from None


def _find_shown(batch: EditBatch, notebook: Notebook) -> frozenset[int] | None:
    if batch.shown is None:
        return None
    names = CellNames(notebook.cells)
    return frozenset(names.find(ref, '"cells"') for ref in batch.shown)


def _shown(batch: EditBatch, before: OpenedDocument, change: DocumentChange) -> frozenset[int] | None:
    if batch.shown is None or change.plan is None:
        return None
    wanted = _find_shown(batch, read_notebook(before.data, before.name)) or frozenset()
    return frozenset(index for index, cell in enumerate(change.plan.cells) if cell.origin in wanted)


def _check_hash(batch: EditBatch, document: OpenedDocument, find_hash: Callable[[], str]) -> None:
    if batch.if_hash is None:
        return
    found = find_hash()
    if found != batch.if_hash:
        raise StaleContentError(
            f"{document.name} is not what it was: read its cells again and edit what is there", content_hash=found
        )


class _Turns:
    """One lock for each file, under whatever name, kept only while somebody wants it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def of(self, location: Path, batch: EditBatch) -> AsyncIterator[None]:
        key = _key(location)
        lock, users = self._locks.get(key, (asyncio.Lock(), 0))
        self._locks[key] = lock, users + 1
        try:
            await self._acquire(lock, batch)
            try:
                yield
            finally:
                lock.release()
        finally:
            lock, users = self._locks.pop(key)
            if users > 1:
                self._locks[key] = lock, users - 1

    async def _acquire(self, lock: asyncio.Lock, batch: EditBatch) -> None:
        try:
            async with time_limit(self._clock, batch.patience_seconds):
                await lock.acquire()
        except TimeoutError:
            raise ContentChangedError(
                f"{batch.name} was being edited by others all the time: try again, or raise `wait_ms`"
            ) from None


def _key(location: Path) -> str:
    return os.path.realpath(location)


async def _to_the_end(work: Coroutine[Any, Any, _T]) -> _T:
    """`work`, awaited to its end even where the awaiting task is cancelled."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])
        raise
