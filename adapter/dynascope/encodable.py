"""Make text of the program's encodable: not every `str` is text that UTF-8, JSON and SQLite can hold.

An argument or a path that is not UTF-8 is a `str` with lone surrogates (PEP 383), and a program can make others. Their
bytes are shown as Python shows bytes: `caf\\xe9`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


def encoded(encode: Callable[[Any], T], value: Any) -> T:
    """Return what `encode` makes of a value, or of one with encodable texts in place of its own."""
    try:
        return encode(value)
    except UnicodeEncodeError:
        return encode(encodable(value))


def encodable(value: Any) -> Any:
    """Return the value with texts that can be encoded, in structs and containers, too."""
    match value:
        case str():
            return _text(value)
        case msgspec.Struct():
            fields = {name: encodable(getattr(value, name)) for name in value.__struct_fields__}
            return msgspec.structs.replace(value, **fields)
        case dict():
            return {encodable(key): encodable(each) for key, each in value.items()}
        case list():
            return [encodable(each) for each in value]
        case tuple():
            return tuple(encodable(each) for each in value)
        case _:
            return value


def _text(text: str) -> str:
    try:
        return text.encode(errors="surrogateescape").decode(errors="backslashreplace")
    except UnicodeEncodeError:  # surrogates that stand for no byte
        return text.encode(errors="backslashreplace").decode()
