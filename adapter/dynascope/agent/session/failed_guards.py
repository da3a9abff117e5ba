"""Find the guard for which each cache entry of a function does not fit a frame, and what it wants and meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.compile import compile_context, failed_guard
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.guards.costs import check, modes_wanted
from dynascope.agent.internals.guards.tree import CacheEntry, lines
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor
from dynascope.agent.program.functions import paths_loaded
from dynascope.explain import why as says
from dynascope.explain.guards import must
from dynascope.facts.recompiles import recompile_reason
from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value, met, readable, state_wanted, wanted

_ALIASES = "{} must be {}, and are {}"


@dataclass(slots=True)
class Failed:
    """The first guard of a cache entry that fails, and what is known of it."""

    compile_id: str
    whole: str
    """The guard with torch's remarks."""
    guard: str
    subject: GuardedValue
    guards: Any
    """Those of the cache entry, a `GuardManagerWrapper`."""
    hint: str | None
    place: tuple[str, int] | None
    told: str
    """A clause: `n must be 2, and is 5`."""


@dataclass(slots=True)
class FrameStandIn:
    """The function that is compiled, in the form of a frame; `translator` is None if it is not traced."""

    f_code: Any
    f_locals: dict[str, Any]
    f_globals: dict[str, Any]
    translator: Any = None


def first_failed(entry: CacheEntry, frame: FrameStandIn) -> Failed | str:
    """Return the guard that fails, or why the entry is not used although none does."""
    if entry.dropped is not None:
        return says.DROPPED.format(reason=readable(entry.dropped))
    checked = check(entry.guards, frame.f_locals)
    text = checked.failed
    if text is None:
        return _fits(entry, frame)
    paths = [frame.f_code.co_filename, *paths_loaded()]
    parsed = recompile_reason.parse(text, paths[0])
    subject = guarded_value(parsed.guard)
    place = recompile_reason.place(text, paths)
    if place is None and subject.kind != "global state":
        place = _place_in_tree(entry, subject, paths) or checked.place
    told = _sentence(parsed.guard, subject, entry, frame)
    return Failed(entry.compile_id, text, parsed.guard, subject, entry.guards, parsed.hint, place, told)


def _fits(entry: CacheEntry, frame: FrameStandIn) -> str:
    then = compile_context.name_of_backend(entry.backend)
    if frame.translator is not None:
        now = compile_context.backend_name(translators.output_of(frame.translator))
        if now != then:
            return says.OTHER_BACKEND.format(then=then, now=now)
    reason = compile_context.recompile_reason() or ""
    if "BACKEND_MATCH" in reason:
        return says.OTHER_OBJECT.format(then=then)
    return says.FITS


def _place_in_tree(entry: CacheEntry, subject: GuardedValue, paths: list[str]) -> tuple[str, int] | None:
    """Return the line of a guard for which torch tells none, as its tree of guards says.

    A guard on a tensor is that of TENSOR_MATCH; on the length of a module's `_modules`, that of the module.
    """
    owner = subject.expression.removesuffix("._modules")
    kind = "TENSOR_MATCH" if owner == subject.expression else "TYPE_MATCH"
    for line in lines(entry.guards):
        if line.is_guard and line.text.startswith(kind) and f"({readable(owner)}, " in readable(line.text):
            return recompile_reason.place(line.text, paths)
    return None


def _tensor_type(entry: CacheEntry, subject: GuardedValue) -> str | None:
    """Return the type that a guard on a tensor wants, which not every torch tells when it fails."""
    beginning = f"check_tensor({readable(subject.expression)}, "
    for line in lines(entry.guards):
        found = readable(line.text).partition(beginning)[2]
        if line.is_guard and found:
            return found.partition(",")[0].rpartition(".")[2]
    return None


def _sentence(guard: str, subject: GuardedValue, entry: CacheEntry, frame: FrameStandIn) -> str:
    """Return what the guard wants and what it meets, as a clause."""
    value = failed_guard.value_met(guard, frame)
    if subject.kind == "global state":
        return _state(subject, entry, value or "")
    now_met = met(guard) or (value.partition(": ")[2] if value else None)
    met_object = failed_guard.guarded_object(subject, frame)
    if is_tensor(met_object) and subject.kind in ("size", "type"):
        is_size = subject.kind == "size"
        now_met = str(met_object.shape[subject.dimension or 0]) if is_size else type(met_object).__qualname__
    if subject.kind == "aliases":
        is_one = guard.startswith("Duplicate")
        return _ALIASES.format(readable(subject.expression), "different objects" if is_one else "one object", now_met)
    wants = _wanted(guard, subject, entry, met_object)
    if wants is None:
        return f"{readable(guard)} must be true{_numbers(guard, subject, frame, value, now_met)}"
    if subject.kind == "attribute":
        return must(subject, wants)
    is_now = "its keys are" if subject.kind == "keys" else "is"
    return must(subject, wants) + (f", and {is_now} {now_met}" if now_met else "")


def _state(subject: GuardedValue, entry: CacheEntry, value: str) -> str:
    """Return what a guard on the state of torch wants and meets."""
    names = subject.expression.split()
    modes = modes_wanted(entry.guards) if names == ["torch_function_modes"] else None
    if modes is not None:
        return f"{names[0]} must be {modes}, and is {value.partition(': ')[2]}"
    against = next((line.text for line in lines(entry.guards) if "GLOBAL_STATE" in line.text), "")
    now = dict(each.split(": ", 1) for each in value.split(", ") if ": " in each)
    return ", ".join(
        f"{name} must be {state_wanted(name, now.get(name), against)}, and is {now.get(name, 'another')}"
        for name in names
    )


def _wanted(guard: str, subject: GuardedValue, entry: CacheEntry, met_object: object) -> str | None:
    """Return the clause of what a guard wants, also where torch's text does not tell it."""
    told = wanted(guard, subject)
    if subject.kind == "type" and guard.startswith("expected type of"):
        tensor_type = _tensor_type(entry, subject)
        return told if tensor_type is None else f"be {tensor_type}"
    member = failed_guard.member_then(guard, met_object) if subject.kind == "identity" else None
    return told if member is None else f"be {member}"


def _numbers(guard: str, subject: GuardedValue, frame: FrameStandIn, value: str | None, now_met: str | None) -> str:
    """Return the numbers that a condition meets, as the end of a sentence."""
    if subject.kind == "sizes":
        return f", with {value}" if value else ""
    numbers = failed_guard.numbers_met(guard, frame)
    if len(numbers) > 1 or (numbers and not now_met):
        return f", with {', '.join(numbers)}"
    return f", and {subject.text} is {now_met}" if now_met else ""
