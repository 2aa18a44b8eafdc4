"""Definitions in public notebooks, with real servers, against the truth computed from `ast` by the test."""

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from jupyter_lsp_agent.navigation.answer import FoundPlace, QueryAnswer
from jupyter_lsp_agent.notebook.model import Notebook
from jupyter_lsp_agent.service.neighbours import LocalNeighbours
from jupyter_lsp_agent.service.query_requests import QueryRequest, code_question
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.corpus import is_plain, needs_corpus, python_notebooks
from tests.support.definitions import Spot, Truth, find_truth
from tests.support.full import SEEDS, sample
from tests.support.real_servers import with_servers_on_path
from tests.support.services import opened_service

pytestmark = [pytest.mark.shared, needs_corpus, pytest.mark.timeout(600)]

N_NOTEBOOKS = 10
N_IDENTIFIERS = sample(200, 60)
LEAST = 40
"""Names with a truth that a notebook must have to be chosen."""


def truth_of(notebook: Notebook) -> Truth:
    return find_truth([(cell.index, cell.source) for cell in notebook.cells if is_plain(cell) and cell.source.strip()])


def is_whole(notebook: Notebook) -> bool:
    """Whether all of its code is plain Python, so that no binding is hidden from the truth."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    return all(map(is_plain, code)) and not any("import *" in cell.source or "\r" in cell.source for cell in code)


def chosen() -> list[tuple[str, Notebook, Truth]]:
    """Ten notebooks, spread over the corpus, always the same."""
    whole = [(name, notebook) for name, notebook in python_notebooks() if is_whole(notebook)]
    able = [(name, notebook, truth) for name, notebook in whole if len((truth := truth_of(notebook)).defined) >= LEAST]
    step = len(able) / N_NOTEBOOKS
    return [able[int(number * step)] for number in range(N_NOTEBOOKS)]


def write(path: Path, notebook: Notebook) -> None:
    cells = [
        {"cell_type": cell.cell_type, "source": cell.source, "metadata": {}}
        | ({"outputs": [], "execution_count": None} if cell.cell_type == "code" else {})
        for cell in notebook.cells
    ]
    metadata = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": metadata, "cells": cells}))


async def definition(service: NotebookDiagnosticsService, path: Path, use: Spot) -> QueryAnswer:
    question = {"method": "definition", "cell": use.cell, "line": use.line, "column": use.column}
    return await service.query(
        QueryRequest(
            document=CheckRequest(path=path, wait_seconds=60.0),
            question=code_question(question),
            neighbours=LocalNeighbours(path.parent),
        )
    )


def spots(answer: QueryAnswer, path: Path) -> list[Spot | str]:
    return [
        Spot(one.cell.cell_index, one.range.start.line + 1, one.range.start.column + 1)
        if one.cell is not None and one.path == str(path)
        else one.path
        for one in answer
        if isinstance(one, FoundPlace)
    ]


@pytest.mark.parametrize(
    "server_id", [pytest.param(one, marks=pytest.mark.real_server(one)) for one in ("ty", "basedpyright")]
)
async def test_definitions_are_where_ast_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server_id: str) -> None:
    with_servers_on_path(monkeypatch)
    random, wrong, n_right, n_asked = Random(SEEDS["definitions"]), [], 0, 0
    left_out: Counter[str] = Counter()
    n_known = 0
    async with opened_service({"servers": {"python": [[server_id]]}}, tmp_path) as service:
        for number, (name, notebook, truth) in enumerate(chosen()):
            path = tmp_path / f"n{number}.ipynb"
            write(path, notebook)
            left_out += truth.left_out
            n_known += len(truth.defined)
            for use in sorted(random.sample(sorted(truth.defined), N_IDENTIFIERS // N_NOTEBOOKS)):
                n_asked += 1
                answer = await definition(service, path, use)
                assert answer.was_answered, answer.detail
                found = spots(answer, path)
                expected = truth.defined[use]
                n_right += found == [expected]
                if found != [expected]:
                    wrong.append(f"{name} {use} {truth.names[use]}: {found}, not {expected}")
                assert all(one.cell == expected.cell for one in found if isinstance(one, Spot)), wrong[-1]
    n_left_out = sum(left_out.values())
    share = n_left_out / (n_known + n_left_out)
    print(f"\n{server_id}: {n_right} of {n_asked} right; {share:.0%} of all names left out: {dict(left_out)}")
    print("\n".join(wrong))
    assert n_asked == N_IDENTIFIERS
    assert n_right >= 0.98 * n_asked, "\n".join(wrong)
