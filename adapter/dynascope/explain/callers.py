"""Choose which callers of a line are shown: those in the program's own files, and the nearest others."""

from __future__ import annotations

from itertools import groupby

from dynascope.explain.problem import Note, Place
from dynascope.facts import model
from dynascope.facts.user_stack import UserFrame

_NEAREST = 6
"""The innermost callers, which are shown also where they are a package's."""
_MOST = 24
_PACKAGES = "/site-packages/", "/dist-packages/"


def callers(fact: model.GraphBreak | model.TracedFact) -> list[Note]:
    """Return the callers, innermost first, without torch's, with the number of those left out."""
    above = [frame for frame in fact.stack if (frame.path, frame.line) != (fact.path, fact.line)]
    frames = [frame for frame in reversed(above) if not is_torch(frame)]
    kept = [place < _NEAREST or not _is_of(frame) for place, frame in enumerate(frames)]
    if sum(kept) > _MOST:  # a recursion
        inner = [place for place, is_kept in enumerate(kept) if is_kept]
        for place in inner[_MOST // 2 : -_MOST // 2]:
            kept[place] = False
    shown: list[Note] = []
    for is_kept, group in groupby(zip(kept, frames, strict=True), lambda each: each[0]):
        run = [frame for _, frame in group]
        if is_kept or len(run) == 1:
            shown += [_note(frame) for frame in run]
        else:
            shown.append(Note(kind="more callers", text=f"… {len(run)} more callers …"))
    return shown


def _note(frame: UserFrame) -> Note:
    return Note(kind="caller", text="called from", subject=frame.function, place=Place(frame.path, frame.line))


def is_torch(frame: UserFrame) -> bool:
    """Whether a frame is torch's, such as `_call_impl` of nn.Module: the user need not see it."""
    return _is_of(frame, "torch/")


def _is_of(frame: UserFrame, package: str = "") -> bool:
    """Whether a frame is in an installed package, or in this one."""
    path = frame.path.replace("\\", "/")
    return any(folder + package in path for folder in _PACKAGES)
