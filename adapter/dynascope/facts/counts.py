"""Write how many there are of something, and how long it took."""

from __future__ import annotations


def counted(number: int, what: str, plural: str = "") -> str:
    """Return `1 graph break` or `2 graph breaks`."""
    return f"{number} {what if number == 1 else plural or what + 's'}"


def seconds(value: float) -> str:
    """Return a duration as text: `2.1 min`, `1.3 s`, `12 ms`."""
    unit = "ms" if value < 1 else "s" if value < 100 else "min"
    return f"{seconds_in(unit, value)} {unit}"


def seconds_in(unit: str, value: float) -> str:
    """Return a duration as a number of `ms`, `s` or `min`."""
    if unit == "ms":
        return f"{1000 * value:.0f}"
    return f"{value if unit == 's' else value / 60:.1f}"
