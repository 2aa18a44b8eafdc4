"""The files that a server names beside the document it was asked about."""

import asyncio
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.navigation import Location, Symbol
from jupyter_lsp_agent.core.uris import path_from_uri, uri_key
from jupyter_lsp_agent.navigation.placing import OtherFile, Placer, ShownDocument, name_of_uri, place_symbols
from jupyter_lsp_agent.service.neighbours import Neighbours, read_anywhere
from jupyter_lsp_agent.service.virtual_paths import is_virtual

_MAX_FILES_NAMED = 200
_NOTEBOOK_FILE = re.compile(r"\.ipynb(?:#.*)?$", re.IGNORECASE)


async def other_files(
    locations: Iterable[Location], shown: dict[str, ShownDocument], neighbours: Neighbours
) -> tuple[dict[str, OtherFile], int]:
    """The files that a server named and was not shown, by `uri_key`; and how many locations are in too many files."""
    found: dict[str, OtherFile] = {}
    too_many = 0
    for location in locations:
        key, path = uri_key(location.uri), path_from_uri(location.uri)
        if key in shown or key in found or (path is not None and is_virtual(path)):
            continue
        if len(found) == _MAX_FILES_NAMED:
            too_many += 1
        elif path is None:
            found[key] = OtherFile(name_of_uri(location.uri))
        else:
            found[key] = await _other_file(path, neighbours)
    return found, too_many


async def _other_file(path: Path, neighbours: Neighbours) -> OtherFile:
    data, name = await neighbours.read(path), neighbours.name_of(path)
    if data is not None:
        return OtherFile(name, data.decode("utf-8-sig", "replace"), may_quote=True)
    return OtherFile(name, await asyncio.to_thread(read_anywhere, path))


def is_of_a_notebook_file(one: Location | Symbol) -> bool:
    """Whether a server read a notebook from the disk itself, and names its cells (`n.ipynb#2`): as it was stored, and
    beside what it was shown of the same notebook."""
    location = one if isinstance(one, Location) else one.location
    path = None if location is None else path_from_uri(location.uri)
    return path is not None and _NOTEBOOK_FILE.search(path.name) is not None


def is_of_the_asker(symbol: Symbol, shown: dict[str, ShownDocument]) -> bool:
    """Whether a symbol, or one inside of it, is in a cell or in a file, not on a line of ours."""
    location = symbol.location
    path = None if location is None else path_from_uri(location.uri)
    if location is None or (path is not None and is_virtual(path) and uri_key(location.uri) not in shown):
        return False
    return uri_key(location.uri) not in shown or bool(place_symbols(Placer(shown), (symbol,)))


def locations_of(value: Any) -> Iterable[Location]:
    """The places in a server's answer, whether of symbols or by themselves."""
    for one in value:
        if isinstance(one, Location):
            yield one
        elif isinstance(one, Symbol) and one.location is not None:
            yield one.location
