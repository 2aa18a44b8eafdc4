"""Which language a notebook is in."""

from typing import Any

import pytest

from jupyter_lsp_agent.notebook.languages import detect_language, display_name, file_extension, language_from_name
from tests.support.notebooks import PYTHON_METADATA, notebook_with


def metadata(
    name: str | None = None, language: str | None = None, info: str | None = None, **more: Any
) -> dict[str, Any]:
    spec = {key: value for key, value in {"name": name, "language": language}.items() if value is not None}
    told: dict[str, Any] = {} if info is None else {"name": info}
    return {"kernelspec": spec, "language_info": {**told, **more}}


@pytest.mark.parametrize(
    ("said", "sources", "language"),
    [
        (PYTHON_METADATA, ["x = 1"], "python"),
        (PYTHON_METADATA, ["x ="], "python"),
        ({}, ["x = 1"], "python"),
        ({}, [], "python"),
        ({}, ["x ="], "python"),
        ({}, ["!ls\nos?", ">>> x = 1", "%%bash\necho $((", "%matplotlib inline"], "python"),
        ({}, ["library(x)\nx <- function(a) {", "y$z(1)", "if (a) { b }"], None),
        (metadata("conda-env-x-py", "python"), ["x = 1"], "python"),
        (metadata("python3", "", "python"), ["x ="], "python"),
        (metadata("ir", "R", "R"), ["x <- 1"], "r"),
        (metadata("julia-1.10", "julia"), ["x = [1 2; 3 4]"], "julia"),
        (metadata("julia-1.10"), ["x = [1 2; 3 4]"], "julia"),
        (metadata("iruby"), ["puts 1"], "ruby"),
        (metadata("ir"), ["x <- 1"], "r"),
        (metadata("xcpp17", "C++17", "c++"), ["int x;"], "cpp"),
        (metadata("deno", "typescript", "typescript"), ["let x = 1"], "typescript"),
        (metadata("bash", "bash", "bash"), ["echo hi"], "shellscript"),
        (metadata(".net-csharp", "C#", "polyglot-notebook"), ["var x = 1;"], "csharp"),
        (metadata(file_extension=".go"), ["x := 1"], "go"),
        (metadata("sagemath", "sage", "python"), ["print(1)"], "sagemath"),
        (metadata("coconut", "coconut", "coconut"), ["x = 1", "print(x)"], "python"),
        (metadata("coconut", "coconut", "coconut"), ["x |> print", "y = x -> x"], "coconut"),
        (metadata("ir", "R", "python"), ["import os", "print(os.sep)"], "python"),
        (metadata("ir", "R", "python"), ["x <- c(1)$y", "library(z) -> k;;"], "r"),
        (metadata("my-lisp", "lisp", "lisp"), ["(a)"], "lisp"),
    ],
)
def test_language_is_told_from_all_that_is_said_and_from_the_code(
    said: dict[str, Any], sources: list[str], language: str | None
) -> None:
    assert detect_language(notebook_with(said, *sources)) == language


def test_names_are_known_in_the_spellings_of_kernels() -> None:
    assert language_from_name("Bash") == "shellscript"
    assert language_from_name(" C++17 ") == "cpp"
    assert language_from_name("TypeScript") == "typescript"
    assert display_name(language_from_name("golang")) == "Go"
    assert file_extension(language_from_name("evcxr")) == ".txt"
    assert file_extension(language_from_name("Rust")) == ".rs"
