"""Projects of our own, for servers that look only at files of a project, which a notebook's cells never are.

Such a project lies in our data folder, holds nothing of the user's and nothing that could be run, and is written once.
The cells are shown as a file of it, under a name that stands for the notebook; nothing is written there.
"""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from jupyter_lsp_agent.service.chain_calls import Question


def in_own_project(question: Question) -> Question:
    """The question, moved into our project where the chain's server needs one."""
    spec, search = question.chain[0], question.place.search
    if not spec.project_files or search.own_data is None:
        return question
    folder = search.own_data / "projects" / spec.server_id
    _write_once(folder, spec.project_files)
    name = hashlib.sha256(os.fsencode(question.path)).hexdigest()[:16]
    search = replace(search, trusted_roots=(*search.trusted_roots, folder))
    place = replace(question.place, boundary=folder, search=search)
    return replace(question, place=place, path=folder / f"{name}{question.path.suffix}")


def _write_once(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(path)
