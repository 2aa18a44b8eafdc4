"""The README shows what its commands print."""

import re
from pathlib import Path

import pytest

from tests.support.command_line import run_command

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def readme() -> str:
    return (CHECKOUT / "README.md").read_text(encoding="utf-8")


def block(readme: str, mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```(?:bash)?\n(.*?)```", readme, re.DOTALL)
    assert found, f"README.md has no block behind {mark}"
    return found.group(1)


def without_figures(text: str) -> str:
    """Version and milliseconds differ from run to run."""
    return re.sub(r"\(ty [\d.]+, \d+ ms\)", "(ty, ms)", text)


def test_the_tour_prints_what_the_readme_says(readme: str) -> None:
    command = block(readme, "command: check").splitlines()[-1]
    assert command.startswith("jupyter lsp-agent ")
    done = run_command(*command.split()[2:], cwd=CHECKOUT)
    assert without_figures(done.output) == without_figures(block(readme, "output: check"))
    assert done.code == 1


def test_a_question_prints_what_the_readme_says(readme: str) -> None:
    command = block(readme, "command: query").split()
    done = run_command(*command[2:], cwd=CHECKOUT)
    assert (done.code, done.output) == (0, block(readme, "output: query"))


def test_the_tour_has_three_different_mistakes(readme: str) -> None:
    codes = re.findall(r" error: .* \[([\w-]+)\]$", block(readme, "output: check"), re.MULTILINE)
    assert len(codes) == len(set(codes)) == 3


def test_every_setting_that_the_readme_names_exists(readme: str) -> None:
    from jupyter_lsp_agent.service.settings import describe_settings

    table = readme[readme.index("| name | default |") :].partition("\n\n")[0]
    names = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert names
    assert names <= set(describe_settings())
