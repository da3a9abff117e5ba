"""Build guards again as torch would with a `guard_filter_fn`, beside those that it evaluates."""

from __future__ import annotations

import contextlib
import dataclasses
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import torch
from torch import _guards
from torch._dynamo import guards as dynamo_guards
from torch._dynamo.output_graph import OutputGraphCommon

from dynascope.agent.events.guards import as_before, built_from
from dynascope.agent.events.wrapping import unobserved
from dynascope.agent.internals.guards.tree import lines
from dynascope.agent.isolation.isolation import undisturbed
from dynascope.agent.isolation.unseen import unlogged

Filter = Callable[[Sequence[Any]], Sequence[bool]]
"""A `guard_filter_fn` (2.7): which of some `torch._dynamo.types.GuardFilterEntry` to keep."""


def filters_of_torch() -> dict[str, Filter]:
    """Return the filters of guards that `torch.compiler` has, by name."""
    names = (name for name in torch.compiler.__all__ if "guard" in name and name.endswith("_unsafe"))
    return {name: getattr(torch.compiler, name) for name in names}


Kind = TypeVar("Kind", bound="Rebuilt")


class NotRebuilt(Exception):
    """Raised where guards cannot be built again; the text is a clause for the user."""


class Rebuilding:
    """Builds the guards of a cache entry again, for the values of a frame for which they are true."""

    def __init__(self, code: types.CodeType, guards: Any, values: dict[str, Any]) -> None:
        """Raise NotRebuilt unless the guards can be built again as torch evaluates them."""
        source = built_from(guards)
        if source is None:
            raise NotRebuilt("it was compiled before Dynascope was attached")
        self._code, self._guards, self.source, self.values = code, guards, source, values
        dropped = {id(guard) for guard in source.dropped}
        rebuilt = self._build([guard for guard in source.guards if id(guard) not in dropped], None)
        if sorted(map(str, lines(rebuilt))) != sorted(
            map(str, lines(guards))
        ):  # torch moves a failed guard to the front
            raise NotRebuilt("its guards cannot be built again as they are")

    def with_filter(self, keeps: Filter | None) -> Any:
        """Return a `GuardManagerWrapper` with the guards that a filter keeps; with None, all."""
        return self._build(self.source.guards, keeps)

    def _build(self, wanted: Sequence[Any], keeps: Filter | None) -> Any:
        return self.built(Rebuilt, wanted, keeps).guard_manager

    def built(self, kind: type[Kind], wanted: Sequence[Any], keeps: Filter | None, **options: Any) -> Kind:
        """Return what builds these guards, or those of them that a filter keeps."""
        state = dataclasses.replace(
            self.source.state,
            local_scope=self.values,
            global_scope=self._guards.global_scope["G"],
            _guards=[as_before(guard) for guard in wanted],
        )
        with on_the_side():
            return kind(
                self._code,
                OutputGraphCommon(state),
                guard_filter_fn=keeps,
                shape_code_parts=self.source.shape_code,
                **options,
            )

    def loaded(self, state: Any) -> Any:
        """Build what a `guards.GuardsState` (2.8) has, as `package.load_guard_manager` (2.10)."""
        local_state = {"guard_build_local_state": state.local_state} if hasattr(state, "local_state") else {}  # 2.15
        with on_the_side():
            return Rebuilt(
                self._code,
                OutputGraphCommon(state.output_graph),
                shape_code_parts=state.shape_code_parts,
                runtime_global_scope=self._guards.global_scope["G"],
                **local_state,
            ).guard_manager


class Rebuilt(dynamo_guards.CheckFunctionManager):  # type: ignore[misc]
    """A `guards.CheckFunctionManager` (2.0; with `shape_code_parts` 2.8) that watches no object of the program."""

    def id_ref(self, obj: object, obj_str: str) -> int:
        with contextlib.suppress(TypeError):
            self._weakrefs[id(obj)] = weakref.ref(obj)  # torch clears them when the guards are built
        return id(obj)


@contextlib.contextmanager
def on_the_side() -> Iterator[None]:
    """Build as after a compile (`torch._guards.compile_context`, 2.0); log and count nothing."""
    with unobserved(), unlogged(), undisturbed(), _guards.compile_context(None), _same_closure_variables():
        yield


@contextlib.contextmanager
def _same_closure_variables() -> Iterator[None]:
    """Restore `guards._CLOSURE_VARS` (2.11) afterwards.

    torch 2.11 adds values of the frame to it, under names such as `tmp`, and passes all of it to guards built later.
    """
    known = vars(dynamo_guards).get("_CLOSURE_VARS")
    before = None if known is None else dict(known)
    try:
        yield
    finally:
        now = vars(dynamo_guards).get("_CLOSURE_VARS")
        if before is None and now is not None:
            dynamo_guards._CLOSURE_VARS = None
        elif before is not None:
            now.clear()
            now.update(before)
