"""A service whose Python servers are scripted ones, and notebooks to check with it."""

import json
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from jupyter_lsp_agent.service.settings import SettingsSource, load_settings

SCRIPT = Path(__file__).with_name("scripted_server.py")
IDS = ("ty", "basedpyright", "pyright", "pyrefly", "zuban")
"""Catalogue entries that the scripted servers stand in for."""


def scripted_settings(behaviours: Iterable[str], **settings: Any) -> dict[str, Any]:
    """Settings under which a Python chain is made of scripted servers, one for each behaviour, in order."""
    return scripted_chains([list(behaviours)], **settings)


def scripted_chains(chains: Sequence[Sequence[str]], **settings: Any) -> dict[str, Any]:
    """The same with several chains; a behaviour `missing` stands for a server that is not installed."""
    ids = iter(IDS)
    named = [[(next(ids), behaviour) for behaviour in chain] for chain in chains]
    commands = {server_id: {"command": command_of(behaviour)} for chain in named for server_id, behaviour in chain}
    return {
        "servers": {"python": [[server_id for server_id, _ in chain] for chain in named]},
        "server_settings": commands,
        **settings,
    }


def command_of(behaviour: str) -> list[str]:
    """What starts a scripted server."""
    return ["no-such-program-anywhere"] if behaviour == "missing" else [sys.executable, str(SCRIPT), behaviour]


@asynccontextmanager
async def opened_service(settings: Mapping[str, Any], server_root: Path) -> AsyncIterator[NotebookDiagnosticsService]:
    """A service, closed at the end."""
    loaded = load_settings(configuration=[SettingsSource("the test", settings)], environ={})
    service = await NotebookDiagnosticsService.open(loaded, server_root=server_root)
    try:
        yield service
    finally:
        await service.aclose()


def write_notebook(path: Path, *sources: str, **metadata: Any) -> Path:
    """A small notebook of code cells; `metadata` replaces the usual one."""
    cells = [
        {
            "cell_type": "code",
            "id": f"c{index}",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": source,
        }
        for index, source in enumerate(sources)
    ]
    usual = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    notebook = {"cells": cells, "metadata": metadata or usual, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path
