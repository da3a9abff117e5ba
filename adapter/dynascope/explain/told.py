"""Say of a problem what its title does not."""

from __future__ import annotations

from collections.abc import Iterator

from dynascope.explain.effects import as_sentence
from dynascope.explain.problem import Problem


def told_of(problem: Problem) -> Iterator[str]:
    """Yield the lines below a title: whose it is, its details, what it led to, what comes of it."""
    if problem.kind != "graphBreak" and problem.whose.removeprefix("in ") not in problem.title:
        yield f"It is about {problem.whose.removeprefix('in ')}."
    if problem.because:
        because = f"{problem.because[0].upper()}{problem.because[1:]}"
        yield f"{because}{problem.cause}{f': {problem.effect}' if problem.effect else ''}"
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
