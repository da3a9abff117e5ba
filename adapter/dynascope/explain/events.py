"""Say in one line what happens in a compile that is no problem."""

from __future__ import annotations

from collections.abc import Sequence

from dynascope.explain.problem import one_line

BEGINS = "Dynamo begins to compile {}."
COMPILED = "{} is compiled."
NEW_COMPILE = "Compile [{}] begins here: the one before ended at the graph break in line {}."


def repeats(what: str, kept: Sequence[str]) -> str:
    """Say that a function is traced again with the changes that the user keeps."""
    how = f"with what the user keeps: {'; '.join(kept)}" if kept else "as the program has it"
    return f"Dynamo traces {what} again, {how}."


def stopped(reason: str, text: str | None) -> str:
    return f"Stopped: {reason}{f', {one_line(text)}'.rstrip('.') if text else ''}."
