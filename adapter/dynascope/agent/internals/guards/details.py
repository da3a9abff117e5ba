"""Read the details that Dynamo keeps of one guard besides its expression and its type."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Frame = tuple[str, int, str]
"""File, line, function."""


@dataclass(slots=True)
class GuardDetails:
    """Details of one `torch._guards.Guard`; those set when the guards are built are None or empty until then."""

    originating_source: Any
    guard_source: str
    arguments: Mapping[str, Any]
    """The arguments of its type, by position (`[0]`) or name: the attribute that must be absent, the value to equal."""
    guard_types: Sequence[str]
    guarded_object: tuple[Any, bool] | None
    """The object, and whether it is still alive."""
    guarded_class: type | None
    unserializable: str | None
    """Why it cannot be saved with the compiled code; None when it can."""
    forces_dict_keys_match: bool
    user_stack: Sequence[Frame]
    framework_stack: Sequence[Frame]
    """Dynamo's own frames, outermost first; empty unless torch is configured to keep them."""


def details(guard: Any) -> GuardDetails:
    """Read a `torch._guards.Guard` (2.0; `_unserializable` 2.7, `_force_dict_keys_match` 2.14)."""
    return GuardDetails(
        originating_source=guard.originating_source,
        guard_source=str(guard.source.name),
        arguments=_arguments(guard.create_fn),
        guard_types=list(guard.guard_types or ()),
        guarded_object=_referent(guard.obj_weakref),
        guarded_class=(_referent(guard.guarded_class_weakref) or (None,))[0],
        unserializable=_why_not_serializable(guard),
        forces_dict_keys_match=bool(getattr(guard, "_force_dict_keys_match", False)),
        user_stack=_frames(guard.user_stack or ()),
        framework_stack=_frames(guard.stack.summary()) if guard.stack is not None else (),
    )


def _arguments(create_fn: Any) -> dict[str, Any]:
    if type(create_fn) is not functools.partial:
        return {}
    arguments = {f"[{i}]": value for i, value in enumerate(create_fn.args)} | create_fn.keywords
    return {name: value() if type(value).__name__ == "TensorWeakRef" else value for name, value in arguments.items()}


def _referent(reference: Any) -> tuple[Any, bool] | None:
    if reference is None:
        return None
    if issubclass(type(reference), weakref.ReferenceType):
        found = weakref.ReferenceType.__call__(reference)
        return found, found is not None
    return reference, True


def _why_not_serializable(guard: Any) -> str | None:
    """Apply the rules and the list of types of `CheckFunctionManager.serialize_guards` (2.7)."""
    listed = sys.modules["torch._dynamo.guards"].CheckFunctionManager.UNSUPPORTED_SERIALIZATION_GUARD_TYPES
    kind = guard.create_fn_name()
    if kind in ("TYPE_MATCH", "BUILTIN_MATCH"):
        return "its type is local to a function" if getattr(guard, "_unserializable", None) else None
    found = next((each for each in (kind, *(guard.guard_types or ())) if each in listed), None)
    return f"torch cannot save a {found}" if found is not None else None


def _frames(stack: Any) -> list[Frame]:
    return [(str(frame.filename), int(frame.lineno or 0), str(frame.name)) for frame in stack]
