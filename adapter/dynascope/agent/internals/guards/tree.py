"""Read the guards of cache entries: the tree of guard managers that torch evaluates at each call, in its order."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.compile.call import keyed_met
from dynascope.agent.internals.compile.compile_context import dynamic_shapes
from dynascope.agent.internals.compile.failed_guard import guarded_object
from dynascope.agent.internals.frames.resume import is_resume_function
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor
from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value
from dynascope.facts.recompiles.known import Known

_IN_PYTHON = ("LAMBDA_GUARD", "PythonLambdaGuardAccessor", "CallFunctionNoArgsGuardAccessor")
"""The guards and accessors of `torch._C._dynamo.guards` (2.5) that call Python functions; not all are classes there."""


@dataclass(slots=True)
class CacheEntry:
    """Compiled code of a function, and the guards under which it is used."""

    compile_id: str
    guards: Any
    """The `guards.GuardManagerWrapper`."""
    dropped: str | None = None
    """Why torch uses the entry no more; None while it does."""
    backend: Any = None
    """The backend that it was compiled for."""


@dataclass(slots=True)
class GuardLine:
    """One line of torch's text of a tree: a guard manager, which finds a value, or a guard on that value."""

    depth: int
    text: str
    manager: Any = None
    """The `GuardManager`; None for a guard, and for the pair of a dict's key and value."""
    is_guard: bool = False
    in_python: bool = False
    folded: Sequence[Any] = ()
    """The `GuardManager`s for which this line stands."""

    def __str__(self) -> str:
        return f"{'| ' * self.depth}+- {self.text}"


IsListed = Callable[[Any], bool]


def cache_entries(code: types.CodeType) -> list[CacheEntry]:
    """Return the valid cache entries of a function, in the order in which a call looks them up."""
    return [entry for entry in all_cache_entries(code) if entry.dropped is None]


def all_cache_entries(code: types.CodeType) -> list[CacheEntry]:
    """Return the cache entries of a function, with those that torch has dropped.

    Reads `eval_frame._debug_get_cache_entry_list` (2.1) and `DeletedGuardManagerWrapper.invalidation_reason` (2.6).
    """
    entries = sys.modules["torch._dynamo.eval_frame"]._debug_get_cache_entry_list(code)
    deleted = sys.modules["torch._dynamo.guards"].DeletedGuardManagerWrapper
    return [
        CacheEntry(
            str(entry.compile_id),
            entry.guard_manager,
            str(entry.guard_manager.invalidation_reason) if type(entry.guard_manager) is deleted else None,
            entry.backend,
        )
        for entry in entries
    ]


def recompile_limits(code: types.CodeType, frame: Any) -> tuple[int, int, int]:
    """Return how many entries count against the limit, the limit, and that of all entries.

    Calls `cache_size._has_same_id_matched_objs` (2.1), which reads `f_locals` of the frame; reads `recompile_limit` and
    `accumulated_recompile_limit` of `torch._dynamo.config` (2.6).
    """
    entries = sys.modules["torch._dynamo.eval_frame"]._debug_get_cache_entry_list(code)
    counts: Any = sys.modules["torch._dynamo.cache_size"]
    config: Any = sys.modules["torch._dynamo.config"]
    same = sum(bool(counts._has_same_id_matched_objs(frame, entry)) for entry in entries)
    return same, config.recompile_limit, config.accumulated_recompile_limit


def lines(guards: Any) -> list[GuardLine]:
    """Return the lines of `str(guards)`, of a `GuardManagerWrapper` (2.5), without its heading.

    Reads `get_guard_lines` and `get_manager_line` (2.5), and `RootGuardManager.get_epilogue_lambda_guards` (2.5).
    """
    return lines_below(guards, guards.root)


def lines_below(guards: Any, root: Any, is_listed: IsListed = lambda manager: True) -> list[GuardLine]:
    """Return the lines of a `RootGuardManager` as `str(guards)` would write them.

    Of the managers below one, a line without text stands for those that are not listed.
    """
    listed = [GuardLine(0, "RootGuardManager", root)]
    _add_below(listed, guards, root, 1, set(), is_listed)
    for guard in root.get_epilogue_lambda_guards():
        listed += _guard(guards, guard, 0)
    return listed


def counts(managers: Iterable[Any]) -> Iterator[tuple[int, int]]:
    """Yield the number of guards of each manager, and how many parts of it call Python."""
    for manager in managers:
        guards = manager.get_leaf_guards()
        slow = sum([type(guard).__name__ in _IN_PYTHON for guard in guards])
        for accessor in manager.get_accessors():
            slow += _is_in_python(accessor)
        yield len(guards), slow


def _is_in_python(accessor: Any) -> bool:
    """Whether an accessor calls Python; one whose class is not exposed tells by its text."""
    kind = type(accessor).__name__
    return kind in _IN_PYTHON or (kind == "GuardAccessor" and str(accessor.repr()) in _IN_PYTHON)


def evaluated(root: Any) -> list[Any]:
    """Return a guard manager and all below it, in the order in which torch evaluates them."""
    return [manager for manager, _ in with_depths(root)]


def with_depths(root: Any) -> list[tuple[Any, int]]:
    """Return what `evaluated` returns, each with its depth below `root`.

    Reads `GuardManager.get_child_managers` and `DictGuardManager.get_key_value_managers` (2.5).
    """
    found: list[tuple[Any, int]] = []
    waiting = [(root, 0)]
    of_dicts = sys.modules["torch._dynamo.guards"].DictGuardManager
    while waiting:
        manager, depth = each = waiting.pop()
        found.append(each)
        depth += 1
        if isinstance(manager, of_dicts):
            for _, pair in reversed(_pairs(manager)):
                waiting += [(part, depth) for part in reversed(pair) if part is not None]
        if children := manager.get_child_managers():
            children.reverse()
            waiting += [(child, depth) for child in children]
    return found


def _add_below(
    listed: list[GuardLine], guards: Any, manager: Any, depth: int, seen: set[Any], is_listed: IsListed
) -> None:
    _add_guards(listed, guards, manager, depth, seen)
    folded: list[Any] = []
    for index, pair in _pairs(manager):
        there = [each for each in pair if each is not None]
        if not any(map(is_listed, there)):
            folded += there
            continue
        listed.append(GuardLine(depth, f"KeyValueManager pair at index={index}"))
        for kind, each in zip(("KeyManager", "ValueManager"), pair, strict=True):
            if each is not None:
                listed.append(GuardLine(depth + 1, f"{kind}: {guards.get_manager_line(each)}", each))
                _add_below(listed, guards, each, depth + 2, seen, is_listed)
    for accessor, child in zip(manager.get_accessors(), manager.get_child_managers(), strict=True):
        if not is_listed(child):
            folded.append(child)
            continue
        text = guards.get_manager_line(child, f"accessed_by={accessor.repr()}")
        listed.append(GuardLine(depth, text, child, in_python=_is_in_python(accessor)))
        _add_below(listed, guards, child, depth + 1, seen, is_listed)
    if folded:
        listed.append(GuardLine(depth, "", folded=folded))


def _add_guards(listed: list[GuardLine], guards: Any, manager: Any, depth: int, seen: set[Any]) -> None:
    for guard in manager.get_leaf_guards():
        if guard in seen:  # a guard on the relation of several values
            listed.append(GuardLine(depth, type(guard).__name__, None, is_guard=True))
        else:
            listed += _guard(guards, guard, depth)
        if isinstance(guard, sys.modules["torch._dynamo.guards"].RelationalGuard):
            seen.add(guard)


def _guard(guards: Any, guard: Any, depth: int) -> list[GuardLine]:
    in_python = type(guard).__name__ in _IN_PYTHON
    texts = guards.get_guard_lines(guard)
    return [GuardLine(depth, text, None, is_guard=not number, in_python=in_python) for number, text in enumerate(texts)]


def _pairs(manager: Any) -> list[tuple[int, tuple[Any, Any]]]:
    pairs = getattr(manager, "get_key_value_managers", None)
    return sorted(pairs().items(), key=lambda item: item[0]) if pairs is not None else []


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
