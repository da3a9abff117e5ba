"""Find the guards that will fail later, before the code is compiled again for them.

A value is told only where the program itself shows another one: what this call sets it to, what the same module beside
it has, what is marked dynamic. Nothing of the program runs.
"""

from __future__ import annotations

import gc
import inspect
import re
import weakref
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import torch

from dynascope.agent.internals.compile.failed_guard import object_of, value_text
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import expression_of, is_symbolic, is_tensor
from dynascope.agent.internals.variables.held import Constant, Entries, Items, Tensor, Unrealised, Unset
from dynascope.agent.internals.variables.kinds import contents
from dynascope.agent.internals.variables.variables import (
    SideEffects,
    class_names,
    fields,
    is_changed,
    key_variable,
    source_of,
)
from dynascope.facts.model import VaryingGuard, VaryingKind

_CONSTANT = frozenset({"CONSTANT_MATCH", "EQUALS_MATCH", "ID_MATCH", "NONE_MATCH", "BOOL_MATCH"})
_LENGTHS = "SEQUENCE_LENGTH", "DICT_KEYS_MATCH"
_PLAIN = frozenset({int, float, bool, str, bytes, type(None)})
_MARKS = "_dynamo_dynamic_indices", "_dynamo_weak_dynamic_indices"
_ROOT = re.compile(r"(?P<scope>[GL])\['(?P<name>\w+)'\](?P<rest>.*)", re.DOTALL)
_WRAPS = "_compiled_call_impl", "forward"
"""What `torch.nn.Module.compile` (2.2), or the program, sets on the one module that it compiles."""
_SEARCHES = 8
"""The maximum number of searches among all objects, of about 30 ms each, in one life of Dynamo."""
FIRST_OF_ALL = "0/0"
"""The first compile of a process, or after `torch._dynamo.reset()`, which nothing that is compiled can have called."""
_MISSING = object()


class Neighbours:
    """Finds the modules in one `ModuleList` or `Sequential` with another, among all objects, which takes a while."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], list[weakref.ref[Any]]]] = {}

    def of(self, module: object) -> list[Any]:
        """Return the other modules of its class that are compiled as it is, on their own or not."""
        if not issubclass(type(module), torch.nn.Module):
            return []
        known = self._known.get(id(module))
        if known is None or known[0]() is not module:
            if len(self._known) == _SEARCHES:
                return []
            tables = (each for each in gc.get_referrers(module) if type(each) is dict and len(each) > 1)
            table = next((each for each in tables if list(each) == [str(at) for at in range(len(each))]), {})
            others = [each for each in table.values() if each is not module and type(each) is type(module)]
            known = self._known[id(module)] = weakref.ref(module), list(map(weakref.ref, others))
        found = [reference() for reference in known[1]]
        return [each for each in found if each is not None and _wraps(each) == _wraps(module)]


class VaryingGuards:
    """The guards of a trace that will fail later; to be asked before Dynamo drops the trace."""

    def __init__(self, output: Any, real_path: Callable[[str], str], is_users: Callable[[str], bool]) -> None:
        """Read `OutputGraph.guards`, `.local_scope`, `.global_scope` and `.root_tx` (2.0).

        `is_users`: whether a path is of the user's code, not of a library.
        """
        self._output = output
        self._real_path = real_path
        self._is_users = is_users
        self._effects = SideEffects(output)
        self._guards = {(str(each.name), str(each.create_fn_name())): each for each in output.guards.inner}
        self._absent = {
            f"{each.name}.{getattr(each.create_fn, 'keywords', {}).get('attr')}": each
            for each in output.guards.inner
            if each.create_fn_name() == "NOT_PRESENT_IN_GENERIC_DICT"
        }
        """The guards that an object has no attribute of its own, by the attribute's source."""
        self._constants = {name: each for (name, kind), each in self._guards.items() if kind in _CONSTANT}

    @property
    def module(self) -> str | None:
        """Return the name of the module whose globals the compiled function has."""
        name = self._output.global_scope.get("__name__")
        return name if type(name) is str else None

    def set_by_the_call(self) -> Iterator[VaryingGuard]:
        """Yield what the call itself changes, and leaves changed, in an object that lasts."""
        for name, variable in (*self._written(), *self._items_of_changed()):
            then, absent = self._value(name), self._absent.get(name)
            if absent is not None and not isinstance(contents(variable, self._effects), Unset):
                yield self._told("added", absent, name, "", [])
            elif name in self._constants and type(then) in _PLAIN:
                after = self._other_than(then, variable)
                if after is not None:
                    yield self._told("set", self._constants[name], name, value_text(then), [after])
            elif (name, "TENSOR_MATCH") in self._guards:
                yield from self._resized(name, variable)
        yield from self._longer()

    def different_beside(self, compile_id: str, neighbours: Neighbours) -> Iterator[VaryingGuard]:
        """Yield the constants of a module that differ in modules of its class beside it.

        Only in a first compile: later ones are for those beside it.
        """
        beside: dict[str, list[Any]] = {}
        if not compile_id.endswith("/0"):
            return
        for name, guard in self._constants.items():
            root = _ROOT.fullmatch(name)
            if root is None or root["scope"] != "L" or not root["rest"]:
                continue
            if root["name"] not in beside:
                module = self._output.local_scope.get(root["name"])
                is_whole = compile_id == FIRST_OF_ALL and not _is_compiled_itself(module)
                beside[root["name"]] = [] if is_whole else neighbours.of(module)
            then = self._value(name) if beside[root["name"]] else _MISSING
            scopes = [{root["name"]: each} for each in beside[root["name"]]]
            calls = [SimpleNamespace(local_scope=scope, global_scope={}) for scope in scopes]
            others = [object_of(name, call, _MISSING) for call in calls]
            texts = [value_text(each) for each in others if type(each) in _PLAIN and _differ(each, then)]
            if texts and type(then) in _PLAIN:
                yield self._told("beside", guard, name, value_text(then), list(dict.fromkeys(texts)))

    def marked(self) -> Iterator[VaryingGuard]:
        """Yield pinned sizes that are marked dynamic, on an input or on what it is a view of.

        Reads `OutputGraph.tracked_fakes` (2.0) and `TracingContext.tensor_to_context` (2.2).
        """
        fakes = {source_text(each.source): each.fake for each in self._output.tracked_fakes if is_tensor(each.fake)}
        for reference, context in list(self._output.tracing_context.tensor_to_context.data.items()):
            tensor, name = reference(), source_text(getattr(context, "tensor_source", None))
            guard = self._guards.get((name or "", "TENSOR_MATCH"))
            if tensor is None or name not in fakes or guard is None:
                continue
            sizes = fakes[name].shape
            for kind, dimension in _marks(tensor):
                size = _pinned(sizes[dimension]) if dimension < len(sizes) else None
                if size is not None:
                    yield self._told(kind, guard, f"{name}.size()[{dimension}]", str(size), [])

    def globals(self) -> Iterator[VaryingGuard]:
        """Yield the constants that are read from the program's globals."""
        for name, guard in self._constants.items():
            is_of_program = name.startswith("G['") and not name.startswith("G['__")
            text = self.now(name) if is_of_program else None
            if text is not None:
                yield self._told("seen", guard, name, text, [])

    def now(self, name: str) -> str | None:
        """Return a global's value as text; None if it is no constant."""
        value = self._value(name)
        return value_text(value) if type(value) in _PLAIN else None

    def _written(self) -> Iterator[tuple[str, object]]:
        """Yield the source and variable of each attribute, global and closure that the trace set."""
        for item, attributes in self._output.side_effects.store_attr_mutations.items():
            source, kinds = source_of(item), class_names(item)
            for attribute, variable in attributes.items():
                name = f"{source}.{attribute}"
                if "NewGlobalVariable" in kinds:
                    name = str(source)
                elif "CellVariable" in kinds:
                    name = f"L['{fields(item).get('local_name')}']"
                if self._lasts(name):
                    yield name, variable

    def _items_of_changed(self) -> Iterator[tuple[str, object]]:
        """Yield the source and variable of each item of the lists and dicts that the trace changed."""
        for variable in list(self._output.side_effects.id_to_variable.values()):
            name = source_of(variable) if is_changed(variable) else None
            if name is None or not self._lasts(name):
                continue
            match contents(variable, self._effects):
                case Items(items=items):
                    yield from ((f"{name}[{index}]", item) for index, item in enumerate(items))
                case Entries(entries=entries):
                    for key, item in entries.items():
                        match contents(key_variable(key), self._effects):
                            case Constant(known) | Unrealised(known) if type(known) in _PLAIN:
                                yield f"{name}[{known!r}]", item

    def _lasts(self, name: str) -> bool:
        """Whether the next call finds the value again: not in what each call may be passed anew."""
        root = _ROOT.fullmatch(name)
        if root is None or root["scope"] == "G":
            return root is not None
        if not root["rest"]:
            return root["name"] in translators.code_of(self._output.root_tx).co_freevars
        return issubclass(type(self._output.local_scope.get(root["name"])), torch.nn.Module)

    def _other_than(self, then: object, variable: object) -> str | None:
        """Return a variable's value as text, if it certainly is another than the constant `then`."""
        match contents(variable, self._effects):
            case Constant(value) | Unrealised(value) if type(value) in _PLAIN or is_tensor(value):
                return value_text(value) if _differ(value, then) else None
            case Tensor(example) if is_tensor(example):
                return value_text(example)
            case Items(kind=kind, items=items):
                return f"{kind} of {len(items)}"
        return None

    def _resized(self, name: str, variable: object) -> Iterator[VaryingGuard]:
        content = contents(variable, self._effects)
        fakes = [each.fake for each in self._output.tracked_fakes if source_text(each.source) == name]
        if not fakes or not isinstance(content, Tensor) or not is_tensor(content.example):
            return
        before, after = fakes[0].shape, content.example.shape
        for dimension, (then, now) in enumerate(zip(before, after, strict=False)):
            size, other = _pinned(then), _pinned(now)
            if len(before) == len(after) and size is not None and other is not None and size != other:
                guard = self._guards[name, "TENSOR_MATCH"]
                yield self._told("set", guard, f"{name}.size()[{dimension}]", str(size), [str(other)])

    def _longer(self) -> Iterator[VaryingGuard]:
        for variable in list(self._output.side_effects.id_to_variable.values()):
            name = source_of(variable) if is_changed(variable) else None
            guards = [self._guards[name, kind] for kind in _LENGTHS if name and (name, kind) in self._guards]
            then: Any = self._value(name) if name and guards and self._lasts(name) else None
            match contents(variable, self._effects) if type(then) in (list, dict) else None:
                case Items(items=inside) | Entries(entries=inside) if len(then) != len(inside):
                    yield self._told("set", guards[0], f"len({name})", str(len(then)), [str(len(inside))])

    def _value(self, name: str) -> Any:
        return object_of(name, self._output, _MISSING)

    def _told(self, kind: VaryingKind, guard: Any, expression: str, value: str, others: list[str]) -> VaryingGuard:
        places = [(self._real_path(each.filename), each.lineno or 0) for each in reversed(guard.user_stack or ())]
        path, line = next((each for each in places if self._is_users(each[0])), (*places, ("", 0))[0])
        return VaryingGuard(path=path, line=line, kind=kind, expression=expression, value=value, others=others)


def _differ(one: object, other: object) -> bool:
    return type(one) is not type(other) or one != other


def _pinned(size: object) -> int | None:
    """Return a size that no symbol stands for, or that has been fixed."""
    if is_symbolic(size):
        fixed = expression_of(size)
        return int(fixed) if fixed is not None and fixed.is_Integer else None
    return size if type(size) is int else None


def _is_compiled_itself(module: object) -> bool:
    """Whether a module, or its class, was given to `compile`: not what calls it.

    Reads `_torchdynamo_orig_callable` (2.0) of a compiled function.
    """
    forward = inspect.getattr_static(type(module), "forward", None)
    is_module = issubclass(type(module), torch.nn.Module)
    return (is_module and any(_wraps(module))) or "_torchdynamo_orig_callable" in getattr(forward, "__dict__", {})


def _wraps(module: Any) -> list[bool]:
    return [vars(module).get(name) is not None for name in _WRAPS]


def _marks(tensor: torch.Tensor) -> Iterator[tuple[VaryingKind, int]]:
    """Yield the marked dimensions of a tensor, and those marked on the tensor it is a view of."""
    own = {dimension for name in _MARKS for dimension in fields(tensor).get(name, ())}
    for dimension in sorted(own):
        yield "mark", dimension
    base = tensor._base if type(tensor) is torch.Tensor else None
    for name in _MARKS if base is not None and not own else ():
        for marked in fields(base).get(name, ()):
            size = base.shape[marked], base.stride(marked)  # type: ignore[union-attr]
            same = [each for each in range(tensor.dim()) if (tensor.shape[each], tensor.stride(each)) == size]
            if len(same) == 1:
                yield "view", same[0]
