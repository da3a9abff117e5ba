"""Find the sizes and numbers that differ from those of a cache entry, for advice on the recompile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.compile.call import keyed_met
from dynascope.agent.internals.compile.compile_context import dynamic_shapes
from dynascope.agent.internals.compile.failed_guard import guarded_object
from dynascope.agent.internals.frames.resume import is_resume_function
from dynascope.agent.internals.guards.tree import lines
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor
from dynascope.facts.recompiles.causes import Known
from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value

_TENSOR = re.compile(r"TENSOR_MATCH: check_tensor\((?P<name>.+?), .*size=\[(?P<sizes>[^\]]*)\], stride=")
_NUMBER = re.compile(r"EQUALS_MATCH: (?P<guard>.+? == (?P<number>-?\d+))\s*(?:#|$)")


@dataclass(slots=True)
class Changed:
    """A size or a number that guards hold to one value, and that has another now."""

    subject: GuardedValue
    source: str
    """The tensor, or the number, as torch writes it: `L['x']`."""
    then: int
    now: int


def changed_numbers(guards: Any, frame: Any) -> list[Changed]:
    """Return what a `GuardManagerWrapper` (2.5) holds to a number that a frame does not have."""
    held = {subject: (source, then) for subject, source, then in _held(guards)}
    found = ((subject, source, then, _now(subject, frame)) for subject, (source, then) in held.items())
    return [Changed(subject, source, then, now) for subject, source, then, now in found if now not in (None, then)]


def changed_together(changed: Sequence[Changed], subject: GuardedValue) -> list[Changed]:
    """Return the others that have changed as `subject` has: from the same number to the same."""
    pairs = {(each.then, each.now) for each in changed if each.subject == subject}
    return [each for each in changed if (each.then, each.now) in pairs and each.subject != subject]


def _held(guards: Any) -> Iterator[tuple[GuardedValue, str, int]]:
    """Yield each size and number that guards hold to a value, with its source and that value."""
    for line in lines(guards):
        if (tensor := _TENSOR.match(line.text)) is not None:
            owner = guarded_value(f"{tensor['name']} == 0").expression
            for dimension, size in enumerate(tensor["sizes"].split(", ")):
                if size.isdecimal():
                    yield GuardedValue("size", owner, dimension), tensor["name"], int(size)
        elif (number := _NUMBER.match(line.text)) is not None:
            source = number["guard"].rpartition(" == ")[0]
            yield guarded_value(number["guard"]), source, int(number["number"])


def _now(subject: GuardedValue, frame: Any) -> int | None:
    value = guarded_object(subject, frame)
    if subject.kind == "size" and is_tensor(value):
        sizes = value.shape
        return int(sizes[subject.dimension]) if len(sizes) > (subject.dimension or 0) else None
    return value if subject.kind == "value" and type(value) is int else None


def known_before_trace(subject: GuardedValue, changed: Sequence[Changed], frame: Any) -> Known:
    """Return what is known of a recompile before its trace.

    `changed`: the sizes and numbers that differ; `frame`: Dynamo's view of the frame (`DynamoFrameType`, 2.1).
    """
    return Known(
        together=[each.subject.text for each in changed_together(changed, subject)],
        dynamic=dynamic_shapes(),
        is_rest=is_resume_function(frame.f_code),
        keyed=keyed_met(subject, frame),
    )
