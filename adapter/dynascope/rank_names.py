"""Name the ranks of a distributed job, many as ranges."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby


def ranks_text(ranks: Iterable[int]) -> str:
    """Return ranks with ranges: `0, 2-7`."""
    runs = [[each for _, each in run] for _, run in groupby(enumerate(sorted(ranks)), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def named_ranks(ranks: str) -> str:
    """Return `rank 1`, or `ranks 0, 2-7`."""
    return f"rank{'' if ranks.isdecimal() else 's'} {ranks}"


def verb_of(names: str, verb: str) -> str:
    """Return the form of a verb for `rank 1` or `ranks 0, 2-7`."""
    if names.startswith("ranks"):
        return verb
    return "does" if verb == "do" else f"{verb}s"
