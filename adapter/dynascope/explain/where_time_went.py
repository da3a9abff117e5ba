"""Say which part of the compiler took most of the time, what was compiled again, and what torch's caches had."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from dynascope.facts import model
from dynascope.facts.counts import counted, seconds, seconds_in

_WHAT = {
    "Dynamo": "Dynamo traces Python",
    "AOTAutograd": "AOTAutograd traces graphs for the forward and the backward",
    "Inductor": "Inductor writes code for graphs",
    "kernels": "kernels are compiled or tuned",
    "guards": "guards are built",
    "other ranks": "Dynamo waits for other ranks",
    "backend": "the backend compiles graphs",
}
_IN_PARTS = (
    "Compile a part that repeats instead of the whole, such as each block of a model: equal blocks share a compile."
)
_ADVICE = {
    "Dynamo": "Deep calls and unrolled loops take long: the functions and lines that took longest are listed.",
    "AOTAutograd": f"The first compile of a process also sets it up. {_IN_PARTS}",
    "Inductor": _IN_PARTS,
    "kernels": "A process that compiles the same again takes them from torch's caches.",
    "guards": "`dynascope run --guards` measures what each guard costs.",
    "other ranks": "While the job runs, `dynascope top` tells what the slowest rank compiles.",
    "backend": _IN_PARTS,
}
LEAST_SHARE = 0.01
"""The least share of the time that is worth a row."""
_MOST = 0.4
"""The share of the time that a part needs to be told as the largest."""
_WORTH = 1.0
"""No advice is given for a time of less than so many seconds."""
_MUCH = 0.2
"""The share that recompiles, or what follows graph breaks, need to be told."""
_LEAST = 0.1
"""No part of less than so many seconds is told."""


class Spent(Struct):
    """The time of one compile, in seconds, with that of what was compiled later for it."""

    name: str
    """`step [0/0]`."""
    compile: model.Compile
    parts: dict[str, float]
    """The seconds in each part of the compiler (`facts.compiler_parts`)."""
    is_loaded: bool | None
    """Whether Inductor took all of it from torch's caches; None where it compiled nothing."""

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())


def in_parts(whole: float, parts: Mapping[str, float]) -> str:
    """Return `2.1 min: Inductor 1.6, kernels 0.4`, without parts of less than a hundredth."""
    told = seconds(whole)
    unit = told.rpartition(" ")[2]
    shown = [(part, seconds_in(unit, time)) for part, time in parts.items() if time >= LEAST_SHARE * whole]
    much = [f"{part} {time}" for part, time in shown if float(time)]
    return f"{told}: {', '.join(much)}" if len(much) > 1 else told


def in_part(part: str) -> str:
    """Return what happens in a part of the compiler, and what shortens it."""
    return f"In this time {_WHAT[part]}. {_ADVICE[part]}"


def where_time_went(found: Sequence[Spent]) -> list[str]:
    """Return a few sentences; of compiles that took no time only what torch's caches had."""
    whole, told = sum(each.seconds for each in found), list[str]()
    if whole >= _LEAST:
        told += _of_kind(found, whole, lambda each: each.reason is not None, "recompile", "the causes")
        rest = "rest of a function"
        told += _of_kind(found, whole, lambda each: each.resumes_at is not None, rest, "the graph breaks")
        told.append(_most(found, whole))
    return told + _of_caches(found)


def _most(found: Sequence[Spent], whole: float) -> str:
    parts: dict[str, float] = {}
    for each in found:
        for part, time in each.parts.items():
            parts[part] = parts.get(part, 0.0) + time
    part, time = max(parts.items(), key=lambda each: each[1])
    if time < _MOST * whole:
        longest = sorted(parts.items(), key=lambda each: -each[1])[:3]
        shares = ", ".join(f"{name} {seconds(time)} ({time / whole:.0%})" for name, time in longest)
        return f"No part of the compiler takes most of it: {shares}."
    longest_of_it = max(found, key=lambda each: each.parts.get(part, 0.0))
    own = f", {seconds(longest_of_it.parts[part])} of that for {longest_of_it.name}" if len(found) > 1 else ""
    known = [each.is_loaded for each in found if each.is_loaded is not None]
    if part == "kernels" and known and all(known):
        return (
            f"The largest part: {seconds(time)} ({time / whole:.0%}) in which code from torch's caches is loaded{own}."
        )
    told = f"The largest part: {seconds(time)} ({time / whole:.0%}) in which {_WHAT[part]}{own}."
    return f"{told} {_ADVICE[part]}" if whole >= _WORTH else told


def _of_kind(
    found: Sequence[Spent], whole: float, is_of_it: Callable[[model.Compile], bool], what: str, why: str
) -> list[str]:
    of_kind = [each for each in found if is_of_it(each.compile)]
    time = sum(each.seconds for each in of_kind)
    if time < _MUCH * whole:
        return []
    number = counted(len(of_kind), what, "rests of functions" if what.startswith("rest") else "")
    return [f"{seconds(time)} ({time / whole:.0%}) for {number}: `dynascope report` tells {why}."]


def _of_caches(found: Sequence[Spent]) -> list[str]:
    inductors = [each for each in found if each.is_loaded is not None]
    loaded = sum(bool(each.is_loaded) for each in inductors)
    if not inductors:
        return []
    if loaded == len(inductors):
        return ["Inductor took all of its code from torch's caches."]
    some = f"code for {loaded} of {counted(len(inductors), 'compile')}" if loaded else "nothing"
    new = next(each for each in inductors if not each.is_loaded)
    name = shlex.quote(new.name.rpartition(" [")[2].rstrip("]"))
    forms = f'`dynascope report --form {name} "cache key"`'
    return [f"Inductor took {some} from torch's caches. {forms} tells what is new for them."]
