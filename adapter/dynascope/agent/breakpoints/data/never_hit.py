"""Why a data breakpoint was never hit, told when the program ends."""

from __future__ import annotations

import re

from dynascope.agent.breakpoints.data.data_id import ANYWHERE, access_path
from dynascope.agent.breakpoints.data.watchpoint import Watch
from dynascope.agent.breakpoints.never_hit import why_never_traced

_ROOT = re.compile(r"[^\W\d]\w*")
_TENSOR = re.compile(r"[a-z]+\d*\w*\[.*\]")
_NUMBER = re.compile(r"-?\d+")


def why_never_hit(watch: Watch) -> str | None:
    """A few sentences; None for one that has stopped."""
    if watch.has_stopped:
        return None
    if watch.reached:
        return f"Never hit. {_why_not_stopped(watch)}"
    if not watch.met.compiled:
        return _why_not_compiled(watch)
    return " ".join(filter(None, ["Never hit.", _compiled(watch), _why_not_reached(watch)]))


def _why_not_stopped(watch: Watch) -> str:
    times = "once" if watch.reached == 1 else f"{watch.reached} times"
    if watch.condition and not watch.hits:
        return (
            f"What it waits for happened {times} to {watch.on.what}, and its condition ({watch.condition}) never held."
        )
    return (
        f"What it waits for happened {times} to {watch.on.what}, and its hit condition is {watch.asked.hit_condition}."
    )


def _why_not_compiled(watch: Watch) -> str:
    on = watch.on
    if on.function == ANYWHERE:
        return f"Never hit. Nothing was compiled in which {on.what} could be watched."
    if on.path == ANYWHERE:
        return f"Never hit. {on.function} was not called, or not in compiled code, or had been compiled before."
    return why_never_traced(on.path, on.function, runs_are_debugged=False)


def _compiled(watch: Watch) -> str:
    if watch.on.function == ANYWHERE:
        return ""
    return f"Dynamo compiled {watch.on.function}."


def _why_not_reached(watch: Watch) -> str:
    on, met = watch.on, watch.met
    where = "what was compiled" if on.function == ANYWHERE else on.function
    if on.kind == "local":
        root = _ROOT.match(on.what.strip())
        if root is not None and access_path(on.what) is not None and root[0] not in met.names:
            return f"There is no {root[0]} in {where}."
        if met.value is None and watch.compares:
            return f"There never was {on.what}."
    parts = []
    if watch.reads:
        parts.append(f"No guard on {on.what} was installed, and no node that entered the graph takes it as an input.")
        if on.kind == "node":
            parts = [f"No node that entered the graph takes {on.what} as an input."]
    if watch.writes:
        parts.append(_why_not_written(watch))
    return " ".join(parts)


def _why_not_written(watch: Watch) -> str:
    on, met = watch.on, watch.met
    symbols = " and ".join(sorted(met.symbols))
    if on.kind == "symbol":
        if not symbols:
            return f"There was no symbol {on.what}: such a size is static, or has another symbol."
        return f"{symbols} stayed dynamic: nothing specialised, refined or constrained it."
    stayed = f"{on.what} stayed {met.value}" if met.value is not None else f"{on.what} stayed as it was"
    if symbols:
        return f"{stayed}, and {symbols} stayed dynamic: nothing specialised, refined or constrained it."
    if met.value is not None and _NUMBER.fullmatch(met.value):
        return f"{stayed}: it is a constant in this compile, no symbol stands for it."
    if on.kind == "local" and met.value is not None and on.what.isidentifier() and _TENSOR.match(met.value):
        return f"{stayed}: it got no other shape, dtype or device, and nothing mutated it."
    return f"{stayed}: it was not set to anything else, and nothing mutated it."
