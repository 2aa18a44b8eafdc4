"""What servers push of a document is about the modules that it imports too, whoever changes or proposes those."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from jupyter_lsp_agent.diagnostics.report import ContentSource
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.real_servers import require_server, with_servers_on_path
from tests.support.services import opened_service

pytestmark = pytest.mark.timeout(300)


@dataclass(frozen=True)
class Project:
    server: str
    language: str
    module: tuple[str, str]
    user: tuple[str, str]
    marker: tuple[str, str]

    @property
    def other_text(self) -> str:
        """The module without the name that its user wants; nothing is wrong with it."""
        return self.module[1].replace("area", "surface")


PROJECTS = [
    Project(
        "typescript-language-server",
        "typescript",
        ("shapes.ts", "export function area(radius: number): number {\n  return 3 * radius;\n}\n"),
        ("main.ts", "import { area } from './shapes';\nconsole.log(area(1));\n"),
        ("package.json", "{}"),
    ),
    Project(
        "gopls",
        "go",
        ("shapes.go", "package main\n\nfunc area(radius int) int { return 3 * radius }\n"),
        ("main.go", "package main\n\nfunc main() { println(area(1)) }\n"),
        ("go.mod", "module shapes\n\ngo 1.19\n"),
    ),
]


async def check(
    service: NotebookDiagnosticsService,
    path: Path,
    text: str | None = None,
    source: ContentSource = ContentSource.REQUEST,
) -> str:
    content = None if text is None else text.encode()
    report = await service.check(
        CheckRequest(path=path, content_bytes=content, content_source=source, wait_seconds=60.0)
    )
    assert report.counts is not None, report.detail
    return report.verdict


@pytest.fixture(params=PROJECTS, ids=lambda project: project.server)
def project(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    chosen: Project = request.param
    require_server(chosen.server)
    with_servers_on_path(monkeypatch)
    for name, text in (chosen.module, chosen.user, chosen.marker):
        (tmp_path / name).write_text(text)
    return chosen


async def test_a_module_that_was_only_proposed_is_not_blamed_on_its_importers(project: Project, tmp_path: Path) -> None:
    module, user = tmp_path / project.module[0], tmp_path / project.user[0]
    async with opened_service({"servers": {project.language: [project.server]}}, tmp_path) as service:
        assert await check(service, user) == "clean"
        assert await check(service, module) == "clean"
        for _ in range(2):
            assert await check(service, module, project.other_text) == "clean"
            assert await check(service, user) == "clean"


async def test_a_shared_module_that_is_not_saved_counts_for_its_importers(project: Project, tmp_path: Path) -> None:
    module, user = tmp_path / project.module[0], tmp_path / project.user[0]
    async with opened_service({"servers": {project.language: [project.server]}}, tmp_path) as service:
        for _ in range(2):
            assert await check(service, module, project.module[1], ContentSource.LIVE) == "clean"
            assert await check(service, user) == "clean"
            assert await check(service, module, project.other_text, ContentSource.LIVE) == "clean"
            assert await check(service, user) == "errors"
