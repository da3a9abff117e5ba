"""Build guards again as torch would with a `guard_filter_fn`, beside those that it evaluates."""

from __future__ import annotations

import contextlib
import dataclasses
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import _guards
from torch._dynamo import guards as dynamo_guards
from torch._dynamo.output_graph import OutputGraphCommon

from dynascope.agent.internals.guards.built_from import BuiltFrom
from dynascope.agent.internals.guards.tree import lines
from dynascope.agent.internals.isolation.isolation import undisturbed
from dynascope.agent.internals.isolation.unlogged import unlogged
from dynascope.agent.internals.wrapping import unobserved

Filter = Callable[[Sequence[Any]], Sequence[bool]]
"""A `guard_filter_fn` (2.7): which of some `torch._dynamo.types.GuardFilterEntry` to keep."""


def filters_of_torch() -> dict[str, Filter]:
    """Return the filters of guards that `torch.compiler` has, by name."""
    names = (name for name in torch.compiler.__all__ if "guard" in name and name.endswith("_unsafe"))
    return {name: getattr(torch.compiler, name) for name in names}


class Rebuilding:
    """Builds the guards of a cache entry again, for the values of a frame for which they are true."""

    def __init__(self, code: types.CodeType, guards: Any, source: BuiltFrom, values: dict[str, Any]) -> None:
        self._code, self._guards, self._source, self._values = code, guards, source, values

    def is_exact(self) -> bool:
        """Whether the guards that were kept become those that torch evaluates.

        Guards that have failed may have another order.
        """
        dropped = {id(guard) for guard in self._source.dropped}
        kept = [guard for guard in self._source.guards if id(guard) not in dropped]
        return sorted(map(str, lines(self._build(kept, None)))) == sorted(map(str, lines(self._guards)))

    def with_filter(self, keeps: Filter | None) -> Any:
        """Return a `GuardManagerWrapper` with the guards that a filter keeps; with None, all."""
        return self._build(self._source.guards, keeps)

    def _build(self, wanted: Sequence[Any], keeps: Filter | None) -> Any:
        state = dataclasses.replace(
            self._source.state,
            local_scope=self._values,
            global_scope=self._guards.global_scope["G"],
            _guards=[dataclasses.replace(guard) for guard in wanted],
        )
        with _undisturbed():
            manager = _Rebuilt(
                self._code,
                OutputGraphCommon(state),
                guard_filter_fn=keeps,
                shape_code_parts=self._source.shape_code,
            )
        return manager.guard_manager


class _Rebuilt(dynamo_guards.CheckFunctionManager):  # type: ignore[misc]
    """A `guards.CheckFunctionManager` (2.0; with `shape_code_parts` 2.8) that watches no object of the program."""

    def id_ref(self, obj: object, obj_str: str) -> int:
        with contextlib.suppress(TypeError):
            self._weakrefs[id(obj)] = weakref.ref(obj)  # torch clears them when the guards are built
        return id(obj)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Build as after a compile (`torch._guards.compile_context`, 2.0), and let nobody know."""
    with unobserved(), unlogged(), undisturbed(), _guards.compile_context(None):
        yield
