"""Reading the fields of a JSON request: each has a kind, a wrong one is told by its name, an unknown one is refused.

An agent that misspells `session` would otherwise be answered about something it did not ask.
"""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from jupyter_lsp_agent.core.errors import InvalidRequestError


class Fields:
    """The fields of one object.

    Args:
        value: what was sent.
        known: the names that it may have.
        what: how messages call it.

    Raises:
        InvalidRequestError: `value` is no object, or has a field that is not known.
    """

    def __init__(self, value: object, known: Iterable[str], what: str) -> None:
        if not isinstance(value, Mapping):
            raise InvalidRequestError(f"{what} must be a JSON object")
        self._value = value
        self._what = what
        names = list(known)
        for name in value:
            if name not in names:
                alike = difflib.get_close_matches(str(name), names, n=1)
                mend = f'"{alike[0]}" is one' if alike else f"known are {', '.join(names)}"
                raise InvalidRequestError(f'{what} has no field "{str(name)[:40]}": {mend}')

    def has(self, name: str) -> bool:
        """The field was sent, and not as null."""
        return self._value.get(name) is not None

    def raw(self, name: str) -> Any:
        """The field as it was sent; `None` where it was not."""
        return self._value.get(name)

    def text(self, name: str) -> str:
        """A string that must be there."""
        value = self._value.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, "a string")
        return value

    def optional_text(self, name: str) -> str | None:
        """A string, or nothing."""
        return self.text(name) if self.has(name) else None

    def choice(self, name: str, allowed: Iterable[str]) -> str | None:
        """One of some words, or nothing."""
        value, words = self.raw(name), list(allowed)
        if value is not None and value not in words:
            raise self.wrong(name, "one of " + ", ".join(words))
        return None if value is None else str(value)

    def boolean(self, name: str, *, default: bool) -> bool:
        """A truth value."""
        value = self._value.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def integer(self, name: str, *, maximum: int = 2**53) -> int | None:
        """A whole number within bounds, or nothing."""
        value = self._value.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= maximum:
            raise self.wrong(name, f"a whole number from 0 to {maximum}")
        return value

    def items(self, name: str, *, maximum: int) -> list[Any] | None:
        """A list of bounded length, or nothing."""
        value = self._value.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > maximum:
            raise self.wrong(name, f"a list of at most {maximum}")
        return value

    def cell(self, name: str) -> str | int:
        """A cell that must be named."""
        value: Any = self._value.get(name)
        if not is_cell(value):
            raise self.wrong(name, "a cell's id (a string) or its index (a whole number)")
        cell: str | int = value
        return cell

    def optional_cell(self, name: str) -> str | int | None:
        """A cell, or nothing."""
        return self.cell(name) if self.has(name) else None

    def wrong(self, name: str, wanted: str) -> InvalidRequestError:
        """The error for a field that is not as it must be."""
        return InvalidRequestError(f'{self._what}: "{name}" must be {wanted}')


def is_cell(value: object) -> bool:
    """Whether a value names a cell: a string or a whole number."""
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
