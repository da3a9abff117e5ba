"""Write how many there are of something, and how long it took."""

from __future__ import annotations


def counted(number: int, what: str, plural: str = "") -> str:
    """Return `1 graph break` or `2 graph breaks`."""
    return f"{number} {what if number == 1 else plural or what + 's'}"


def seconds(value: float) -> str:
    """Return a duration as text: `2.1 min`, `1.3 s`, `12 ms`."""
    if value < 1:
        return f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 100 else f"{value / 60:.1f} min"
