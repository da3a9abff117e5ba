"""Report the guards that are installed, and keep what those of each compile are built from, to build them again.

Torch frees it with the compile.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch.utils import _pytree

from dynascope.agent.events import torch_names
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.weak_keys import WeakKeys


@dataclass(slots=True)
class BuiltFrom:
    """What the guards of a cache entry were built from; it keeps no value of the program alive."""

    state: Any
    """The `output_graph.OutputGraphGuardsState` (2.9), without the frame's variables and the guards."""
    shape_code: Any
    """The `guards.ShapeCodeParts` (2.8): the code of the guards on symbols."""
    guards: list[Any]
    """The `torch._guards.Guard`s of the compile, each as it was before it was built."""
    dropped: list[Any]
    """Those among them that the compile's own `guard_filter_fn` dropped, or `caching_precompile`."""
    has_filter: bool
    """Whether the program has given a `guard_filter_fn`."""


_known: WeakKeys[Any, BuiltFrom] = WeakKeys()


def built_from(guards: Any) -> BuiltFrom | None:
    """Return what a `GuardManagerWrapper` was built from; None if it is older than the session."""
    return _known.get(guards)


class BuildEvents(Events):
    """Keep what guards are built from, for as long as they exist. Dynamo's lock admits one compile at a time."""

    def __init__(self, failures: HookFailures) -> None:
        super().__init__(failures)
        self._built: list[Any] = []
        """The guards that were built last: after a filter's work those that it has kept."""
        self._shape_code: list[Any] = []
        self.call_before(torch_names.BUILD_GUARDS_OF, self._guards_are_built)
        self.call_after(torch_names.PRODUCE_GUARDS_VERBOSE, self._shape_guards_written)
        self.call_after(torch_names.BUILD_GUARDS, self._built_all)

    def _guards_are_built(self, manager: Any, sorted_guards: list[Any], *args: Any, **kwargs: Any) -> None:
        self._built = list(sorted_guards)

    def _shape_guards_written(self, written: list[Any], *args: Any, **kwargs: Any) -> None:
        self._shape_code = written

    def _built_all(self, _: None, manager: Any, f_code: Any, output: Any, *args: Any, **kwargs: Any) -> None:
        built, self._built = {id(guard) for guard in self._built}, []
        written, self._shape_code = self._shape_code, []
        guards = [(as_before(guard), id(guard) in built) for guard in output.guards]
        known = BuiltFrom(
            _state(output),
            _shape_code_parts(written) if written else None,
            [guard for guard, _ in guards],
            [guard for guard, is_kept in guards if not is_kept],
            kwargs.get("guard_filter_fn", args[2] if len(args) > 2 else None) is not None,
        )
        _known.put(manager.guard_manager, known)


def as_before(guard: Any) -> Any:
    """Return a copy of a `torch._guards.Guard` (2.0) without what building it has noted in it."""
    before = copy.copy(guard)
    before.guard_types = before.code_list = before.obj_weakref = before.guarded_class_weakref = None
    if guard.user_stack:
        before.stack = None  # torch writes it only for want of the other
    return before


def _state(output: Any) -> Any:
    """Return what torch saves of an `OutputGraph` for its guards (`dump_guards_state`, 2.9)."""
    guards: Any = sys.modules["torch._dynamo.guards"]
    state = output.dump_guards_state()
    state.local_scope, state.global_scope, state._guards = {}, {}, []
    state.guard_on_key_order = set(state.guard_on_key_order)
    state._aotautograd_guards = list(state._aotautograd_guards)
    state.functorch_layers = list(state.functorch_layers)
    # only their types are guarded
    state.torch_function_mode_stack = [object.__new__(type(mode)) for mode in state.torch_function_mode_stack]
    sizes_strides = state.input_source_to_sizes_strides
    state.input_source_to_sizes_strides = _pytree.tree_map(guards.convert_int_to_concrete_values, sizes_strides)
    state.skip_guards_check = True
    return state


def _shape_code_parts(written: list[Any]) -> Any:
    """Return what `ShapeEnv.produce_guards_verbose` (2.7) has made of the shapes."""
    parts: Any = sys.modules["torch._dynamo.guards"].ShapeCodeParts
    python, verbose, *others = written
    cpp = others[0] if others else None
    return parts(python, verbose, cpp, cpp is None, [] if cpp is None else list(cpp.source_to_symbol))


class GuardEvents(Events):
    """Call `installed` with the expression of each new guard ("" for global state) and its type (`TENSOR_MATCH` …)."""

    def __init__(self, installed: Callable[[str, str], None], failures: HookFailures) -> None:
        super().__init__(failures)

        def begins(guards: Any, guard: Any, **kwargs: Any) -> tuple[Any, Any, int]:
            return guards, guard, len(guards.inner)

        def ends(begun: tuple[Any, Any, int], result: None, error: BaseException | None) -> None:
            guards, guard, before = begun
            if len(guards.inner) != before:
                installed(str(guard.name), str(guard.create_fn_name()))

        self.call_around(torch_names.ADD_GUARD, begins, ends)
