"""What a setting may hold: from a value of any source to the value that the program uses.

A `SettingKind` takes what JSON, TOML, Python or a command line can give, and refuses everything else with a sentence
that says what is allowed; who gave the value is told by the caller. Texts (environment, command line) become values
first: scalars by their looks, lists and tables as JSON, or as Python writes them.
"""

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


_MAX_SECONDS = 1e9


class NotAllowedError(ValueError):
    """A value that the setting cannot have."""


@dataclass(frozen=True, slots=True)
class SettingKind:
    """A kind of value.

    Attributes:
        allowed: what it may be, as the end of "it must be …".
        decode: from a plain value; raises `NotAllowedError`.
        from_text: from a text, before `decode`.
        is_list: it is a list, which an option that is given several times makes too.
    """

    allowed: str
    decode: Callable[[Any], Any]
    from_text: Callable[[str], Any]
    is_list: bool = False


def boolean() -> SettingKind:
    """Yes or no; as text in the usual spellings."""

    def from_text(text: str) -> object:
        word = text.strip().lower()
        return True if word in _TRUE else False if word in _FALSE else text

    return SettingKind("true or false", _exactly(bool), from_text)


def whole_number(*, minimum: int = 0) -> SettingKind:
    """A whole number, not below `minimum`."""

    def decode(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
            raise NotAllowedError
        return value

    return SettingKind(f"a whole number of at least {minimum}", decode, _number_from_text)


def seconds(*, zero: bool) -> SettingKind:
    """A finite number of seconds, above zero or from zero on."""

    def decode(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise NotAllowedError
        if value < 0 or (value == 0 and not zero) or not value <= _MAX_SECONDS:
            raise NotAllowedError
        return float(value)

    return SettingKind(f"a number of seconds, {'0 or more' if zero else 'more than 0'}", decode, _number_from_text)


def one_of(*words: str) -> SettingKind:
    """One of some words."""
    return choice({word: word for word in words})


def choice(values: Mapping[str, object]) -> SettingKind:
    """One of some words, each of which stands for a value; the value itself will do too."""

    def decode(value: object) -> object:
        if isinstance(value, str) and value in values:
            return values[value]
        if any(value is known for known in values.values()):
            return value
        raise NotAllowedError

    return SettingKind("one of " + ", ".join(f'"{word}"' for word in values), decode, str)


def texts() -> SettingKind:
    """A list of texts."""

    def decode(value: object) -> tuple[str, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise NotAllowedError
        return tuple(value)

    return SettingKind('a list of texts, such as ["a", "b"]', decode, _container_from_text, is_list=True)


def globs() -> SettingKind:
    """A list of globs, in the syntax of `.gitignore`."""
    as_texts = texts()

    def decode(value: object) -> tuple[str, ...]:
        patterns: tuple[str, ...] = as_texts.decode(value)
        if patterns and not _are_globs(patterns):
            raise NotAllowedError
        return patterns

    return SettingKind(
        'a list of globs, such as ["drafts/**", "*.tmp.ipynb"]', decode, as_texts.from_text, is_list=True
    )


def folders() -> SettingKind:
    """A list of absolute folders; `~` is the home folder."""

    def decode(value: object) -> tuple[Path, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(item, str | Path) for item in value):
            raise NotAllowedError
        paths = tuple(Path(item).expanduser() for item in value)
        if not all(path.is_absolute() for path in paths):
            raise NotAllowedError
        return paths

    return SettingKind('a list of absolute folders, such as ["~/projects"]', decode, _container_from_text, is_list=True)


def server_chains() -> SettingKind:
    """Language → chain of server ids, or several chains."""

    def decode(value: object) -> dict[str, tuple[tuple[str, ...], ...]]:
        if not isinstance(value, Mapping):
            raise NotAllowedError
        return {_text(language): _chains(chain) for language, chain in value.items()}

    return SettingKind(
        'a table of languages with a chain of server ids, or several: {"python": [["ty", "pyright"], ["ruff"]]}',
        decode,
        _container_from_text,
    )


def tables() -> SettingKind:
    """Server id → table."""

    def decode(value: object) -> dict[str, dict[str, Any]]:
        if not isinstance(value, Mapping) or not all(isinstance(table, Mapping) for table in value.values()):
            raise NotAllowedError
        return {_text(key): dict(table) for key, table in value.items()}

    return SettingKind(
        'a table of server ids with a table each: {"ty": {"enabled": false}}', decode, _container_from_text
    )


def _are_globs(patterns: Sequence[str]) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines(patterns)
    except ValueError:
        return False
    return True


def _chains(value: object) -> tuple[tuple[str, ...], ...]:
    if isinstance(value, str):
        return ((value,),)
    if not isinstance(value, list | tuple) or not value:
        raise NotAllowedError
    if all(isinstance(item, str) for item in value):
        return (tuple(value),)
    if not all(isinstance(chain, list | tuple) and chain for chain in value):
        raise NotAllowedError
    return tuple(tuple(_text(name) for name in chain) for chain in value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise NotAllowedError
    return value


def _exactly(kind: type) -> Callable[[Any], Any]:
    def decode(value: object) -> object:
        if type(value) is not kind:
            raise NotAllowedError
        return value

    return decode


def _number_from_text(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _container_from_text(text: str) -> object:
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return text
