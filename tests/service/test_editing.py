"""Batches of edits over a store: one at a time for each file, never over somebody else's work, to the end."""

import asyncio
import json
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import ContentChangedError, EditsDisabledError, StaleContentError
from jupyter_lsp_agent.diagnostics.report import ContentSource
from jupyter_lsp_agent.notebook.edits import Append, Delete, Replace
from jupyter_lsp_agent.notebook.surgery import EditedOutputs
from jupyter_lsp_agent.service.editing import DocumentEditor, EditBatch, content_hash
from jupyter_lsp_agent.service.stores import OpenedDocument, WriteKind, WrittenDocument
from tests.support.clock import ManualClock
from tests.support.small_notebooks import notebook_object


class MemoryStore:
    """Documents in memory. `gate` holds every write back until it is opened; `meddle` is called before each write."""

    def __init__(self, *sources: str) -> None:
        self.data = {name: json.dumps(notebook_object(sources)).encode() for name in ("n.ipynb", "m.ipynb")}
        self.gate = asyncio.Event()
        self.gate.set()
        self.writing = asyncio.Event()
        self.meddle = lambda: None
        self.writes = 0

    def location(self, name: str) -> Path:
        return Path("/nowhere") / name

    async def read(self, name: str) -> OpenedDocument:
        await asyncio.sleep(0)
        return OpenedDocument(name, self.location(name), self.data[name], ContentSource.CONTENTS)

    async def read_or_empty(self, name):
        return await self.read(name)

    async def write(self, document, change, plan) -> WrittenDocument:
        self.writing.set()
        await self.gate.wait()
        self.meddle()
        if self.data[document.name] != document.data:
            raise ContentChangedError("changed")
        self.data[document.name] = change.data
        self.writes += 1
        return WrittenDocument(WriteKind.CONTENTS, document, change)

    def sources(self, name: str = "n.ipynb") -> list[str]:
        return ["".join(cell["source"]) for cell in json.loads(self.data[name])["cells"]]


def _editor(store: MemoryStore, *, allowed: bool = True, clock: ManualClock | None = None) -> DocumentEditor:
    return DocumentEditor(store, clock or ManualClock(), outputs=EditedOutputs.KEEP, allowed=allowed)


def _batch(*edits, name="n.ipynb", **options) -> EditBatch:
    return EditBatch(name=name, edits=edits, **options)


async def test_edits_at_once_lose_nothing():
    store = MemoryStore("a")
    editor = _editor(store)
    await asyncio.gather(*(editor.edit(_batch(Append("code", str(number)))) for number in range(40)))
    assert sorted(store.sources()) == sorted(["a", *(str(number) for number in range(40))])
    assert store.writes == 40


async def test_no_file_waits_for_another():
    store = MemoryStore("a")
    editor = _editor(store)
    store.gate.clear()
    held = asyncio.create_task(editor.edit(_batch(Replace(0, "b"))))
    await store.writing.wait()
    store.writing.clear()
    other = asyncio.create_task(editor.edit(_batch(Replace(0, "c"), name="m.ipynb")))
    await store.writing.wait()  # the other file's turn came
    store.gate.set()
    await asyncio.gather(held, other)
    assert (store.sources(), store.sources("m.ipynb")) == (["b"], ["c"])


async def test_a_batch_is_planned_again_on_what_somebody_else_wrote():
    store = MemoryStore("a", "b")
    theirs = iter([["x", "a", "b"]])

    def meddle() -> None:
        for sources in theirs:
            store.data["n.ipynb"] = json.dumps(notebook_object(sources)).encode()
            break

    store.meddle = meddle
    outcome = await _editor(store).edit(_batch(Append("code", "c")))
    assert store.sources() == ["x", "a", "b", "c"]
    assert outcome.places[0].cell_index == 3
    assert outcome.before.data != outcome.data


async def test_with_a_hash_what_somebody_else_wrote_makes_it_stale():
    store = MemoryStore("a")
    known = content_hash(await store.read("n.ipynb"))
    store.meddle = lambda: store.data.update({"n.ipynb": json.dumps(notebook_object(["theirs"])).encode()})
    with pytest.raises(StaleContentError) as refused:
        await _editor(store).edit(_batch(Replace(0, "mine"), if_hash=known))
    assert store.sources() == ["theirs"]
    assert refused.value.content_hash == content_hash(await store.read("n.ipynb"))


async def test_against_a_writer_that_never_rests_it_gives_up():
    store = MemoryStore("a")
    numbers = iter(range(1000))
    store.meddle = lambda: store.data.update({"n.ipynb": json.dumps(notebook_object([str(next(numbers))])).encode()})
    with pytest.raises(ContentChangedError, match="all the time"):
        await _editor(store).edit(_batch(Replace(0, "mine")))
    assert store.writes == 0


async def test_an_edit_that_has_begun_to_write_is_written_and_keeps_its_turn():
    store = MemoryStore("a")
    editor = _editor(store)
    store.gate.clear()
    given_up = asyncio.create_task(editor.edit(_batch(Replace(0, "b"))))
    await store.writing.wait()
    given_up.cancel()
    next_one = asyncio.create_task(editor.edit(_batch(Append("code", "c"))))
    await asyncio.sleep(0)
    assert not given_up.done()
    store.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    await next_one
    assert store.sources() == ["b", "c"]


async def test_an_edit_that_waits_for_its_turn_can_be_given_up():
    store = MemoryStore("a")
    editor = _editor(store)
    store.gate.clear()
    first = asyncio.create_task(editor.edit(_batch(Replace(0, "b"))))
    await store.writing.wait()
    second = asyncio.create_task(editor.edit(_batch(Replace(0, "c"))))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    store.gate.set()
    await first
    assert store.sources() == ["b"]
    await editor.edit(_batch(Replace(0, "d")))
    assert store.sources() == ["d"]


async def test_an_edit_whose_turn_does_not_come_in_time_is_refused():
    store, clock = MemoryStore("a"), ManualClock()
    editor = _editor(store, clock=clock)
    store.gate.clear()
    first = asyncio.create_task(editor.edit(_batch(Replace(0, "b"))))
    await store.writing.wait()
    second = asyncio.create_task(editor.edit(_batch(Replace(0, "c"), patience_seconds=2.0)))
    assert await clock.wait_for_timer() == 2.0
    clock.advance(2.0)
    with pytest.raises(ContentChangedError, match="wait_ms"):
        await second
    store.gate.set()
    await first
    assert store.sources() == ["b"]


async def test_where_nothing_changes_nothing_is_written():
    store = MemoryStore("a")
    outcome = await _editor(store).edit(_batch(Replace(0, "a")))
    assert outcome.written is None
    assert store.writes == 0


async def test_switched_off_only_dry_runs_are_done():
    store = MemoryStore("a")
    editor = _editor(store, allowed=False)
    with pytest.raises(EditsDisabledError, match="allow_edits"):
        await editor.edit(_batch(Replace(0, "b")))
    outcome = await editor.edit(_batch(Replace(0, "b"), dry_run=True))
    assert outcome.written is None
    assert store.sources() == ["a"]


async def test_shown_cells_are_named_as_they_were():
    store = MemoryStore("a", "b", "c")
    batch = _batch(Delete(0), Append("code", "d"), shown=(0, "c2"), dry_run=True)
    assert (await _editor(store).edit(batch)).shown == {1}
