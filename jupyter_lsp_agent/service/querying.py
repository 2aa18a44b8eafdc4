"""Answering one question about code: from the asker's place to a server, and from its places back to him.

For references and for symbols of a workspace the other notebooks that have the name in them are shown to the server
too: notebooks are no files to it, so it knows of those alone that it was shown.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from jupyter_lsp_agent.core.clock import Clock
from jupyter_lsp_agent.core.errors import RequestError
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.core.positions import TextPosition, split_lines
from jupyter_lsp_agent.core.uris import uri_from_path, uri_key
from jupyter_lsp_agent.diagnostics.cell_names import words_of
from jupyter_lsp_agent.diagnostics.cleaning import clean_path
from jupyter_lsp_agent.diagnostics.hashes import notebook_hash, text_hash
from jupyter_lsp_agent.diagnostics.report import ContentSource, DocumentKind
from jupyter_lsp_agent.lsp import methods
from jupyter_lsp_agent.lsp.client import LanguageClient
from jupyter_lsp_agent.navigation.answer import Found, FoundHover, QueryAnswer, QueryMethod
from jupyter_lsp_agent.navigation.placing import (
    Placer,
    ShownDocument,
    best_first,
    own_first,
    place_all,
    place_hover,
    place_symbols,
    show_signatures,
)
from jupyter_lsp_agent.notebook.languages import PYTHON
from jupyter_lsp_agent.service.chain_calls import (
    Call,
    ChainCaller,
    ChainSilence,
    tidy_version,
)
from jupyter_lsp_agent.service.documents import (
    StoredDocument,
    UncheckableError,
    decode_text,
    document_kind,
    read_document,
)
from jupyter_lsp_agent.service.judging import Content, DocumentJudge, notebook_content, text_content
from jupyter_lsp_agent.service.neighbours import notebooks_with
from jupyter_lsp_agent.service.places import Place
from jupyter_lsp_agent.service.query_files import (
    is_of_a_notebook_file,
    is_of_the_asker,
    locations_of,
    other_files,
)
from jupyter_lsp_agent.service.query_outcomes import (
    Outcome,
    Said,
    chosen,
    joined,
    only_in,
    refused,
    servers_of,
    without_what_was_not_seen,
)
from jupyter_lsp_agent.service.query_requests import CodeQuestion, QueryRequest
from jupyter_lsp_agent.service.query_subjects import Subject, SubjectFinder
from jupyter_lsp_agent.service.reading import parse_notebook, require_allowed
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.virtual_paths import speak_of_cells

_MAX_NOTEBOOKS_BESIDE = 24
_LSP_METHODS = {
    QueryMethod.HOVER: methods.HOVER,
    QueryMethod.DEFINITION: methods.DEFINITION,
    QueryMethod.REFERENCES: methods.REFERENCES,
    QueryMethod.DOCUMENT_SYMBOLS: methods.DOCUMENT_SYMBOL,
    QueryMethod.WORKSPACE_SYMBOLS: methods.WORKSPACE_SYMBOL,
    QueryMethod.SIGNATURE_HELP: methods.SIGNATURE_HELP,
}
_REACH_OTHERS = frozenset({QueryMethod.REFERENCES, QueryMethod.WORKSPACE_SYMBOLS})


class FindPlace(Protocol):
    """Finds where a document lies (`PlaceFinder.find`)."""

    def __call__(self, path: Path, *, named: Path | None = None) -> Place:
        """The place of a document."""
        ...


class Navigator:
    """Answers questions about code.

    Args:
        caller: calls the servers.
        judge: knows how contents are shown to servers.
        find_place: where a document lies, by its path.
        settings: of this process.
        clock: the time.
    """

    def __init__(
        self,
        caller: ChainCaller,
        judge: DocumentJudge,
        find_place: FindPlace,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self._caller = caller
        self._subjects = SubjectFinder(judge)
        self._find_place = find_place
        self._settings = settings
        self._clock = clock

    async def query(self, request: QueryRequest) -> QueryAnswer:
        """The answer; one that cannot be had says why.

        Raises:
            InvalidRequestError, EditError: the place that is asked about is none.
            SettingsError: the request names an interpreter that is none.
        """
        began_seconds, document = self._clock.monotonic_seconds(), request.document
        source = None
        try:
            place = await asyncio.to_thread(self._find_place, document.path, named=document.named)
            require_allowed(place, is_enabled_elsewhere=self._settings.enabled)
            stored = await read_document(place.path, document.content_bytes, source=document.content_source)
            source = stored.source
            answer = await self._answer(request, place, stored, began_seconds)
        except UncheckableError as error:
            answer = QueryAnswer(path="", method=request.question.method, reason=error.reason, detail=str(error))
        return replace(
            answer,
            path=clean_path(document.display_path or str(document.path)),
            content_source=source,
            elapsed_seconds=self._clock.monotonic_seconds() - began_seconds,
        )

    async def _answer(
        self, request: QueryRequest, place: Place, stored: StoredDocument, began_seconds: float
    ) -> QueryAnswer:
        request = replace(request, neighbours=request.neighbours.within(place.boundary))
        asked, content = request.question, await _content(place, stored)
        subjects = await self._subjects.find(place, content, request.document, asked)
        texts = subjects.texts
        outcomes = await asyncio.gather(*(self._ask(request, place, subject, began_seconds) for subject in texts))
        answer = joined(asked, only_in(content, asked, outcomes), texts)
        return replace(
            answer if answer else without_what_was_not_seen(asked, answer, subjects.unchecked),
            language=texts[0].question.language if len(texts) == 1 else content.language,
            unchecked=subjects.unchecked if asked.method is QueryMethod.DOCUMENT_SYMBOLS else (),
            content_hash=notebook_hash(content.cells) if content.notebook else text_hash(content.text or ""),
        )

    async def _ask(self, request: QueryRequest, place: Place, subject: Subject, began_seconds: float) -> Outcome:
        beside = await self._beside(request, place, subject)
        wait = request.document.wait_seconds
        question = subject.question
        if wait is not None:
            left = max(0.0, wait - (self._clock.monotonic_seconds() - began_seconds))
            question = replace(question, waits=replace(question.waits, whole_seconds=left, first_whole_seconds=left))
        reply = await self._caller.call(question, self._call(request, subject, beside))
        if isinstance(reply, ChainSilence):
            return Outcome(servers=reply.servers, failure=reply.failure)
        spoke = chosen(reply)
        if spoke is None:
            return refused(subject, reply)
        shown = {uri_key(uri_from_path(one.question.path)): one.shown for one in (*beside, subject)}
        return replace(
            await self._found(request, subject, spoke.value, shown), servers=servers_of(subject, reply, spoke)
        )

    def _call(self, request: QueryRequest, subject: Subject, beside: Sequence[Subject]) -> Call[Said]:
        asked = request.question
        shown = {uri_key(uri_from_path(one.question.path)): one.shown for one in (*beside, subject)}
        texts = hashlib.sha256("\0".join(one.shown.text for one in beside).encode("utf-8", "replace")).digest()

        # For a body inside a cell no second server is started: it seldom names anything, and the kernel's does.
        wants_more = asked.method.wants_symbols and subject.is_main

        def knows(symbols: Any) -> bool:
            # What we have put into a text is not the user's: a server that names nothing else has found nothing.
            return any(True for one in symbols if is_of_the_asker(one, shown))

        async def ask(client: LanguageClient, document: TextDocument) -> Said:
            return await self._ask_server(client, document, subject, beside, request)

        return Call(
            name=(asked.method, subject.position, asked.query, texts),
            ask=ask,
            wanted="answer",
            again="ask",
            is_enough=lambda said: said.refusal is None and (not wants_more or knows(said.value)),
        )

    async def _ask_server(
        self,
        client: LanguageClient,
        document: TextDocument,
        subject: Subject,
        beside: Sequence[Subject],
        request: QueryRequest,
    ) -> Said:
        asked, began_seconds = request.question, self._clock.monotonic_seconds()
        version = tidy_version(client.server_version)
        if not client.capabilities.supports(_LSP_METHODS[asked.method]):
            return Said(None, version, 0.0, f"it does not answer {asked.method}", is_unknown=True)
        await client.navigation.show(
            TextDocument(uri_from_path(one.question.path), document.language_id, one.shown.text) for one in beside
        )
        try:
            value = await _settled_answer(client, document, asked, subject.position)
        except RequestError as error:
            return Said(None, version, 0.0, str(error))
        return Said(value, version, self._clock.monotonic_seconds() - began_seconds)

    async def _beside(self, request: QueryRequest, place: Place, subject: Subject) -> tuple[Subject, ...]:
        """The other notebooks that have the name in them that is asked about."""
        asked, question = request.question, subject.question
        word = asked.query or _word_at(subject.shown.text, subject.position)
        if asked.method not in _REACH_OTHERS or question.language != PYTHON or not subject.is_main or not word:
            return ()
        most = min(_MAX_NOTEBOOKS_BESIDE, place.settings.max_open_documents // 2)
        paths = await asyncio.to_thread(notebooks_with, word, place.boundary, place.path, most)
        found = [await self._notebook_beside(request, path) for path in paths]
        return tuple(one for one in found if one is not None)

    async def _notebook_beside(self, request: QueryRequest, path: Path) -> Subject | None:
        data = await request.neighbours.read(path)
        if data is None:
            return None
        try:
            place = await asyncio.to_thread(self._find_place, path)
            require_allowed(place, is_enabled_elsewhere=self._settings.enabled)
            content = await _content(place, StoredDocument(path, data, ContentSource.FILE))
            asked = CheckRequest(
                path=path, display_path=request.neighbours.name_of(path), server=request.document.server
            )
            return await self._subjects.main_document(place, content, asked)
        except UncheckableError:
            return None

    async def _found(
        self, request: QueryRequest, subject: Subject, value: Any, shown: dict[str, ShownDocument]
    ) -> Outcome:
        """What a server's answer is to the asker."""
        asked, own = request.question, subject.shown
        match asked.method:
            case QueryMethod.HOVER:
                return Outcome(tuple(_spoken(one, subject) for one in place_hover(own, value)))
            case QueryMethod.SIGNATURE_HELP:
                return Outcome(show_signatures(value))
            case QueryMethod.DOCUMENT_SYMBOLS:
                return Outcome(place_symbols(Placer(shown), value))
        value = tuple(one for one in value if not is_of_a_notebook_file(one))
        if asked.method is QueryMethod.WORKSPACE_SYMBOLS:  # before anything is capped
            value = best_first(value, asked.query, own=uri_key(uri_from_path(subject.question.path)))
        locations = list(locations_of(value))
        others, too_many = await other_files(locations, shown, request.neighbours)
        placer = Placer(shown, others)
        if asked.method is QueryMethod.WORKSPACE_SYMBOLS:
            return Outcome(place_symbols(placer, value), omitted=too_many)
        found, unmapped = place_all(placer, value)
        if asked.method is QueryMethod.REFERENCES:
            found = own_first(found, own.name)
        return Outcome(found, omitted=too_many, unmapped=unmapped - too_many)


async def _content(place: Place, stored: StoredDocument) -> Content:
    if document_kind(place.path) is DocumentKind.TEXT:
        return text_content(place, decode_text(place.path, stored.data))
    return notebook_content(await asyncio.to_thread(parse_notebook, stored))


async def _settled_answer(
    client: LanguageClient, document: TextDocument, asked: CodeQuestion, position: TextPosition | None
) -> Any:
    """The answer of a server that has read what it is asked about, which its verdict tells: before that, some know of
    half the workspace, and some of nothing."""
    is_pulled = bool(client.capabilities.pull_providers(document.language_id))
    if is_pulled and asked.method not in _REACH_OTHERS:
        value = await _verb(client, document, asked, position)
        if value:
            return value
    await client.diagnose(document)
    return await _verb(client, document, asked, position)


async def _verb(
    client: LanguageClient, document: TextDocument, asked: CodeQuestion, position: TextPosition | None
) -> Any:
    navigation = client.navigation
    at = position or TextPosition(0, 0)
    match asked.method:
        case QueryMethod.HOVER:
            return await navigation.hover(document, at)
        case QueryMethod.DEFINITION:
            return await navigation.definition(document, at)
        case QueryMethod.REFERENCES:
            return await navigation.references(document, at)
        case QueryMethod.SIGNATURE_HELP:
            return await navigation.signature_help(document, at)
        case QueryMethod.DOCUMENT_SYMBOLS:
            return await navigation.document_symbols(document)
        case QueryMethod.WORKSPACE_SYMBOLS:
            return await navigation.workspace_symbols(asked.query)


def _word_at(text: str, position: TextPosition | None) -> str:
    """The name at a place, or ending there."""
    if position is None:
        return ""
    line, column = split_lines(text)[position.line], position.column
    for word in dict.fromkeys(words_of(line)):
        start = line.find(word)
        while start >= 0:
            if start <= column <= start + len(word):
                return word
            start = line.find(word, start + 1)
    return ""


def _spoken(found: Found, subject: Subject) -> Found:
    """A hover that speaks of the notebook, not of what was shown for it."""
    line_map = subject.shown.line_map
    if not isinstance(found, FoundHover) or line_map is None:
        return found
    return replace(found, text=speak_of_cells(found.text, subject.question.place.path, line_map))
