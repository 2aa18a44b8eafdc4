"""Why bytes are no notebook: the place, the reason and the mend, in one sentence each."""

import json
import re

_CONFLICT = re.compile(r"^(<{7}|={7}|>{7})(?: |$)", re.MULTILINE)
_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",  # begins like UTF-16, so it is asked first
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_SAVE_AS_UTF_8 = "save it as UTF-8"


def explain_encoding(data: bytes, error: UnicodeDecodeError, name: str) -> str:
    """Why `data` is not UTF-8."""
    encoding = next((its_name for mark, its_name in _MARKS.items() if data.startswith(mark)), None)
    if encoding is not None:
        return f"{name} is written in {encoding}, and a notebook is UTF-8: {_SAVE_AS_UTF_8}"
    line = data.count(b"\n", 0, error.start) + 1
    column = error.start - data.rfind(b"\n", 0, error.start)
    return (
        f"{name} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start} (line {line}, byte {column}) "
        f"is no part of any character: {_SAVE_AS_UTF_8}"
    )


def explain_json(text: str, error: json.JSONDecodeError, name: str) -> str:
    """Why `text` is not JSON."""
    if not text.strip():
        return f"{name} is empty, and a notebook is a JSON object: restore it, or delete it"
    conflict = _CONFLICT.search(text)
    if conflict is not None:
        line = text.count("\n", 0, conflict.start()) + 1
        return f"{name} holds an unresolved merge conflict ({conflict[1]} at line {line}): resolve it and save the file"
    if text.startswith("version https://git-lfs."):
        return f"{name} is a Git LFS pointer, not the notebook itself: run `git lfs pull`"
    return f"{name} is not JSON at line {error.lineno}, column {error.colno} ({error.msg}): mend the text there"
