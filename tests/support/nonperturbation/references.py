"""Find what Dynascope's own objects refer to of a program and its compiles."""

from __future__ import annotations

import contextlib
import functools
import gc
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch._dynamo

_OURS = "dynascope"
_CONTAINERS = dict, list, tuple, set, frozenset, deque, types.CellType, types.MethodType, functools.partial
_OF_COMPILES = (
    ("torch._dynamo.variables.base", "VariableTracker"),
    ("torch._dynamo.symbolic_convert", "InstructionTranslatorBase"),
    ("torch._dynamo.output_graph", "OutputGraph"),
    ("torch._guards", "TracingContext"),
    ("torch.fx", "Node"),
    ("torch.fx", "Graph"),
    ("torch.fx", "GraphModule"),
    ("torch.fx.experimental.symbolic_shapes", "ShapeEnv"),
)
_OF_PROGRAMS = torch.Tensor, torch.nn.Module, types.FrameType, types.TracebackType, BaseException


def is_ours(value: object) -> bool:
    """Whether it is an instance of a class of Dynascope's, or a function of its modules."""
    name = value.__module__ if type(value) is types.FunctionType else type(value).__module__
    return isinstance(name, str) and (name == _OURS or name.startswith(f"{_OURS}."))


@contextlib.contextmanager
def of_new_objects() -> Iterator[None]:
    """Have the collector pass over the objects that are there: those of other tests take most of its time."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def kept(of_program: Callable[[object], bool]) -> list[str]:
    """Return the ways from an object of Dynascope's, or a global, to a value of a program or a compile.

    `of_program` tells the values that belong to the program itself.
    """
    classes = tuple(getattr(sys.modules[module], name) for module, name in _OF_COMPILES) + _OF_PROGRAMS

    def is_value(value: object) -> bool:
        return not isinstance(value, (type, types.ModuleType)) and (
            issubclass(type(value), classes) or of_program(value)
        )

    return sorted(set(_ways(is_value)))


def _ways(is_value: Callable[[object], bool]) -> Iterator[str]:
    seen: set[int] = set()
    waiting: list[tuple[str, object]] = []
    for name, module in list(sys.modules.items()):
        if name == _OURS or name.startswith(f"{_OURS}."):
            waiting += [(f"{name}.{each}", value) for each, value in vars(module).items()]
    waiting += [(_name(each), each) for each in gc.get_objects() if is_ours(each)]
    while waiting:
        way, value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if is_value(value):
            yield f"{way} → {type(value).__module__}.{type(value).__qualname__}"
            continue
        waiting += [(f"{way} → {_name(each)}", each) for each in _inside(value)]


def _inside(value: Any) -> list[Any]:
    if type(value) is types.FunctionType:
        return [*(value.__closure__ or ()), *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    if isinstance(value, (type, types.ModuleType)):
        return []
    return gc.get_referents(value) if is_ours(value) or isinstance(value, _CONTAINERS) else []


def _name(value: object) -> str:
    named = isinstance(value, (type, types.FunctionType))  # of others Dynamo's lazy variables would be read
    return value.__qualname__ if named else type(value).__qualname__


def in_garbage(compile: Callable[[], None]) -> list[str]:
    """Compile without collections, then collect; return the objects of Dynascope's that only this has freed."""
    was_enabled, flags = gc.isenabled(), gc.get_debug()
    gc.collect()
    gc.disable()
    try:
        with torch._dynamo.config.patch(run_gc_after_compile=False):
            compile()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        return sorted({_name(each) for each in gc.garbage if is_ours(each)})
    finally:
        gc.set_debug(flags)
        gc.garbage.clear()
        if was_enabled:
            gc.enable()
