"""Write how many there are of something, in the singular or the plural."""

from __future__ import annotations


def counted(number: int, what: str, plural: str = "") -> str:
    """Return `1 graph break` or `2 graph breaks`."""
    return f"{number} {what if number == 1 else plural or what + 's'}"
