"""Read the keys of rows. Raises msgspec.DecodeError for a key that no row has."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

Number = Annotated[int, Meta(ge=0, lt=1 << 62)]
"""The number of a row in the store; SQLite knows no greater one."""


def launch_of(key: str) -> tuple[str, str]:
    """Return the folder of the store and the name of the launch that its key names."""
    folder, launch = msgspec.json.decode(key, type=tuple[str, str])
    return folder, launch


def number_of(text: str) -> int:
    """Return the number in a key."""
    return msgspec.convert(text, Number, strict=False)
