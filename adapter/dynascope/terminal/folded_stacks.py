"""Fold the stacks of many ranks into a tree of their frames, outermost first (as LLNL's STAT does, 2009)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def folded(stacks: Mapping[int, Sequence[str]], depth: int = 0) -> Iterator[tuple[int, list[int], str]]:
    """Yield for each frame how deep its branch is, the ranks that are in it, and its text.

    `stacks` has the frames of each rank, outermost first. A branch is a level deeper than the frame at which it begins.
    """
    groups: dict[str, list[int]] = {}
    for rank, frames in sorted(stacks.items()):
        if frames:
            groups.setdefault(frames[0], []).append(rank)
    deeper = depth + (len(groups) > 1 or any(not frames for frames in stacks.values()))
    for frame, ranks in groups.items():
        yield deeper, ranks, frame
        yield from folded({rank: stacks[rank][1:] for rank in ranks}, deeper)
