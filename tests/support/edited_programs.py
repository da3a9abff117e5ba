"""Changes of programs that their last comments state, and whether a changed program prints the same.

`12 -> y = torch.where(c, a, b)` puts a text in the place of line 12, after its indentation; `+12 -> TEXT` puts it on a
line of its own before line 12, `-12` takes line 12 away, `_helper_log.py:12` names a line of that file, and ` && `
joins changes. Lines are those of the plain program.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

_EDIT = re.compile(r"(?P<how>[+-]?)(?:(?P<file>\w+\.py):)?(?P<line>\d+)(?: -> (?P<text>.*))?")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?|\bnan\b|\binf\b")


@dataclass(frozen=True)
class Edit:
    """A change of one line."""

    line: int
    text: str | None
    """None: the line is taken away."""
    inserts: bool
    """Whether the text comes before that line, not instead of it."""
    file: str = ""
    """The helper that has the line; "" for the program itself."""


def edits_in(text: str) -> tuple[Edit, ...]:
    """Return the changes that a comment states."""
    found = []
    for part in text.split(" && "):
        edit = _EDIT.fullmatch(part.strip())
        if edit is None or (edit["how"] == "-") != (edit["text"] is None):
            raise ValueError(f"no change of a line: {part}")
        found.append(Edit(int(edit["line"]), edit["text"], edit["how"] == "+", edit["file"] or ""))
    return tuple(found)


def edited(source: str, edits: tuple[Edit, ...], file: str = "") -> tuple[str, list[int]]:
    """Return a file with its changes, and for each line the one that it comes from."""
    lines: list[str] = []
    origins: list[int] = []
    for number, line in enumerate(source.splitlines(), 1):
        indentation = line[: len(line) - len(line.lstrip())]
        own = [edit for edit in edits if (edit.file, edit.line) == (file, number)]
        own.sort(key=lambda edit: not edit.inserts)
        new = [f"{indentation}{edit.text}" for edit in own if edit.text is not None]
        new += [line] if all(edit.inserts for edit in own) else []
        lines += new
        origins += [number] * len(new)
    return "\n".join(lines) + "\n", origins


def same_output(plain: str, other: str, silent: bool = False, tolerance: float = 1e-5) -> bool:
    """Whether two runs printed the same, with numbers up to a tolerance; a silent one may lack lines."""
    lines = iter(plain.splitlines())
    found = all(any(_same_line(line, each, tolerance) for each in lines) for line in other.splitlines())
    return found and (silent or len(plain.splitlines()) == len(other.splitlines()))


def _same_line(one: str, other: str, tolerance: float) -> bool:
    if _NUMBER.sub("#", one).split() != _NUMBER.sub("#", other).split():
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(
        a == b or math.isclose(float(a), float(b), rel_tol=tolerance, abs_tol=max(tolerance, _last_place(a)))
        for a, b in pairs
    )  # "nan" equals "nan"


def _last_place(number: str) -> float:
    """Return the unit of the last of at least three decimals, by which processors round differently."""
    decimals = len(number.partition(".")[2])
    return 1.01 * 10.0**-decimals if decimals >= 3 and "e" not in number else 0.0
