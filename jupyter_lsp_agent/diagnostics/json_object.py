"""Typed looks into an object of parsed JSON, each with an error that names the place.

Keys that nobody asks for are let be, so that a newer writer is understood.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from jupyter_lsp_agent.core.errors import InvalidReportError

Word = TypeVar("Word", bound=Enum)


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object of JSON, and where it stands in the whole (`cells[2].diagnostics[0]`).

    Every method raises `InvalidReportError` where the key is missing or holds something else.
    """

    value: dict[str, Any]
    place: str = "report"

    @staticmethod
    def of(value: object, place: str = "report") -> "JsonObject":
        """`value`, where it is an object."""
        if not isinstance(value, dict):
            raise _error(place, "an object", value)
        return JsonObject(value, place)

    def has(self, key: str) -> bool:
        """Whether the key is there and holds something."""
        return self.value.get(key) is not None

    def text(self, key: str) -> str:
        """A string."""
        found = self._find(key)
        if not isinstance(found, str):
            raise _error(f"{self.place}.{key}", "a string", found)
        return found

    def text_or_none(self, key: str) -> str | None:
        """A string, or null, which may be left out."""
        return self.text(key) if self.has(key) else None

    def whole(self, key: str) -> int:
        """An integer that is not negative."""
        found = self._find(key)
        if not isinstance(found, int) or isinstance(found, bool) or found < 0:
            raise _error(f"{self.place}.{key}", "a whole number", found)
        return found

    def whole_or_none(self, key: str) -> int | None:
        """The same, or null, which may be left out."""
        return self.whole(key) if self.has(key) else None

    def number(self, key: str) -> float:
        """A number."""
        found = self._find(key)
        if not isinstance(found, int | float) or isinstance(found, bool):
            raise _error(f"{self.place}.{key}", "a number", found)
        return found

    def flag(self, key: str) -> bool:
        """True or false."""
        found = self._find(key)
        if not isinstance(found, bool):
            raise _error(f"{self.place}.{key}", "true or false", found)
        return found

    def word(self, key: str, words: type[Word], *, by_name: bool = False) -> Word:
        """One of an enumeration's words: its value, or with `by_name` its name in small letters."""
        return self._word(self._find(key), f"{self.place}.{key}", words, by_name=by_name)

    def words(self, key: str, words: type[Word]) -> tuple[Word, ...]:
        """A list of names of an enumeration, in small letters."""
        place = f"{self.place}.{key}"
        return tuple(self._word(found, place, words, by_name=True) for found in self._list(key))

    def inner(self, key: str) -> "JsonObject":
        """An object."""
        return JsonObject.of(self._find(key), f"{self.place}.{key}")

    def each(self, key: str) -> Iterator["JsonObject"]:
        """The objects of a list."""
        for number, found in enumerate(self._list(key)):
            yield JsonObject.of(found, f"{self.place}.{key}[{number}]")

    def wholes(self, key: str, length: int) -> list[int]:
        """A list of so many integers."""
        found = self._list(key)
        if len(found) != length or not all(isinstance(one, int) and not isinstance(one, bool) for one in found):
            raise _error(f"{self.place}.{key}", f"a list of {length} whole numbers", found)
        return found

    def _list(self, key: str) -> list[Any]:
        found = self._find(key)
        if not isinstance(found, list):
            raise _error(f"{self.place}.{key}", "a list", found)
        return found

    def _find(self, key: str) -> Any:
        if key not in self.value:
            raise InvalidReportError(f"This is no report of this version: `{self.place}` has no `{key}`.")
        return self.value[key]

    @staticmethod
    def _word(found: object, place: str, words: type[Word], *, by_name: bool) -> Word:
        known = {word.name.lower() if by_name else word.value: word for word in words}
        if not isinstance(found, str) or found not in known:
            raise _error(place, f"one of {', '.join(map(str, known))}", found)
        return known[found]


def _error(place: str, wanted: str, found: object) -> InvalidReportError:
    kind = {dict: "an object", list: "a list", str: "a string", type(None): "null"}.get(type(found), repr(found))
    return InvalidReportError(f"This is no report of this version: `{place}` must be {wanted}, not {kind}.")
