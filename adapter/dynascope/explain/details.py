"""Write what stands below the title of a problem: what comes of a break, who calls its line, what it led to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Literal

from dynascope.explain.problem import Note, Place, Problem, sentence_of
from dynascope.facts import model
from dynascope.facts.file_names import PACKAGES
from dynascope.facts.model import BreakEffect
from dynascope.facts.user_stack import UserFrame

Effect = BreakEffect | Literal["first chance"]
"""`first chance`: the break has been raised, and nothing has come of it yet."""
_EFFECTS: dict[Effect, str] = {
    "resumed": "{graph} ends here; what follows is traced on its own",
    # torch disables Dynamo in `torch.utils.checkpoint.checkpoint` where it is not part of a graph
    "region uncompiled": "{graph} ends before the checkpointed region that this line is in, which runs uncompiled",
    # Dynamo compiles up to the last place at which its stack is empty, which may be lines above the break
    "rest uncompiled": "{graph} ends at the last place where it can; from there on the function runs uncompiled",
    "function uncompiled": "the whole function runs uncompiled",
    "raised": (
        "raised as an error: the graph must not break here (fullgraph=True, error_on_graph_break, export, an "
        "operator's body)"
    ),
    "first chance": "it has just been raised: Dynamo may yet handle it",
}
_BEFORE_GRAPH: dict[Effect, str] = {
    "resumed": "no graph ends here, for no operation comes before it; what follows is traced on its own",
    "region uncompiled": "no graph ends, for no operation comes before it; the checkpointed region runs uncompiled",
    "rest uncompiled": "no graph ends, for no operation comes before it; the rest of the function runs uncompiled",
}


def effect(known: Effect, is_before_graph: bool = False, graph: str = "a graph", resumes_at: int | None = None) -> str:
    """Return what comes of a break, to be read after its name.

    `is_before_graph`: no compile has a graph that ends there. `resumes_at` is the line of an earlier break if the
    compile is of what follows it, which alone stays uncompiled then.
    """
    if known == "function uncompiled" and resumes_at is not None:
        return f"what follows line {resumes_at} runs uncompiled"
    text = _BEFORE_GRAPH.get(known) if is_before_graph else None
    return text or _EFFECTS[known].format(graph=graph)


def as_sentence(text: str) -> str:
    """Return what comes of a break as a sentence of its own."""
    return f"It is {text}." if text.startswith("raised") else f"{sentence_of(text)}."


def in_same_loop(line: int) -> str:
    """Return what comes of another break in the loop of a break."""
    return (
        f"Line {line} breaks the graph in the same loop, which stays uncompiled while one does: mend both, or compile "
        "a function for one turn."
    )


_NEAREST = 6
"""The innermost callers, which are shown also where they are a package's."""
_MOST = 24
_RUNNERS = ("_pytest/", "pluggy/", "ipykernel/", "IPython/")
"""Packages that run tests and cells: what is outside of their innermost frame is no code of the user's."""


def callers(fact: model.GraphBreak | model.TracedFact) -> list[Note]:
    """Return the callers, innermost first, without torch's, with the number of those left out."""
    above = [frame for frame in fact.stack if (frame.path, frame.line) != (fact.path, fact.line)]
    frames = [frame for frame in reversed(_run_by(above)) if not is_torch(frame)]
    kept = [place < _NEAREST or not _is_of(frame) for place, frame in enumerate(frames)]
    if sum(kept) > _MOST:  # a recursion
        inner = [place for place, is_kept in enumerate(kept) if is_kept]
        for place in inner[_MOST // 2 : -_MOST // 2]:
            kept[place] = False
    shown: list[Note] = []
    for is_kept, group in groupby(zip(kept, frames, strict=True), lambda each: each[0]):
        run = [frame for _, frame in group]
        if is_kept or len(run) == 1:
            shown += [
                Note(kind="caller", text="called from", subject=each.function, place=Place(each.path, each.line))
                for each in run
            ]
        else:
            shown.append(Note(kind="more callers", text=f"… {len(run)} more callers …"))
    return shown


def _run_by(frames: list[UserFrame]) -> list[UserFrame]:
    """Return the frames that a runner of tests or cells has called; all if there is none."""
    places = [place for place, frame in enumerate(frames) if any(_is_of(frame, package) for package in _RUNNERS)]
    return frames[places[-1] + 1 :] if places else frames


def is_torch(frame: UserFrame) -> bool:
    """Whether a frame is torch's, such as `_call_impl` of nn.Module: the user need not see it."""
    return _is_of(frame, "torch/")


def _is_of(frame: UserFrame, package: str = "") -> bool:
    """Whether a frame is in an installed package, or in this one."""
    path = frame.path.replace("\\", "/")
    return any(folder + package in path for folder in PACKAGES)


def told_of(problem: Problem) -> Iterator[str]:
    """Yield the lines below a title: whose it is, its details, what it led to, what comes of it."""
    if problem.kind != "graphBreak" and problem.whose.removeprefix("in ") not in problem.title:
        yield f"It is about {problem.whose.removeprefix('in ')}."
    if problem.because:
        because = sentence_of(problem.because)
        yield f"{because}{problem.cause}{f': {problem.effect}' if problem.effect else ''}"
        yield from problem.details
    elif problem.kind in ("graphBreak", "willRecompile"):
        yield from problem.details
    else:
        yield problem.statement
    for note in problem.notes:
        if note.kind == "led to":
            led = "In some of these compiles it led" if note.compiles else "It led"
            yield f"{led} to another break, {': '.join([note.subject, *note.details])}"
            yield from (f"Hint: {remedy}" for remedy in note.remedies)
    if problem.kind == "graphBreak":
        yield as_sentence(problem.effect)
