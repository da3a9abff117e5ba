"""Describe the effect of a fix on a program in a sentence."""

from __future__ import annotations

from lsprotocol import types
from msgspec import Struct

from dynascope_lsp.trials.running import Decision, Run


class Outcome(Struct, frozen=True):
    """The effect of a fix. `removed`: the finding is gone; `same`: equal exit code and output."""

    removed: bool
    same: bool
    text: str

    @property
    def summary(self) -> str:
        """Return the outcome in a few words, for a title."""
        return (
            f"tried: {'gone' if self.removed else 'still there'}, output {'the same' if self.same else 'not the same'}"
        )


def compared(
    before: Run, after: Run, repeated: Run | None, aim: Decision, edits: dict[str, list[types.TextEdit]]
) -> Outcome:
    """Compare a run without the fix to one with it.

    `aim` is the decision that the fix removes; `repeated` is another run without the fix, where the outputs differ.
    """
    what = "graph break" if aim[0] == "graphBreak" else "recompile"
    expected = {(kind, path, moved(line, edits.get(path, [])), text) for kind, path, line, text in before.decisions}
    kind, path, line, text = aim
    place = moved(line, edits.get(path, []))
    if kind == "graphBreak":
        removed = not any(each[:3] == (kind, path, place) for each in after.decisions)
    else:
        removed = after.decisions[kind, path, place, text] == 0
    parts = [f"the {what} is {'gone' if removed else 'still there'}"]
    new = sorted({each for each in after.decisions if each not in expected})
    parts += [f"new: {text} at line {line} of {path.rpartition('/')[2]}" for _, path, line, text in new[:3]]
    same = after.exit_code == before.exit_code and after.output == before.output
    parts.append(_output(before, after, repeated, same))
    return Outcome(removed, same, f"{'; '.join(parts)}.")


def _output(before: Run, after: Run, repeated: Run | None, same: bool) -> str:
    if same:
        return (
            "what the program printed is the same"
            if before.output
            else "the program ended as before; it printed nothing"
        )
    if after.exit_code != before.exit_code:
        return f"the program ended with exit code {after.exit_code}, not {before.exit_code}: {after.error}"
    if repeated is not None and repeated.output != before.output:
        return "what the program prints is not the same in two runs without the fix either"
    pairs = zip([*before.output.splitlines(), ""], [*after.output.splitlines(), ""], strict=False)
    was, now = next(((was, now) for was, now in pairs if was != now), ("", ""))
    return f"it printed `{now[:80]}` where it printed `{was[:80]}`"


def moved(line: int, edits: list[types.TextEdit]) -> int:
    """Return a line's number after edits of the lines above it and insertions before it."""
    for edit in edits:
        inserted = edit.range.start == edit.range.end and edit.range.start.character == 0
        if edit.range.end.line < line - 1 or (inserted and edit.range.start.line < line):
            line += edit.new_text.count("\n") - (edit.range.end.line - edit.range.start.line)
    return line
