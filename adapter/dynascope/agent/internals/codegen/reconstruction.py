"""Describe how generated code would rebuild a value: the rules of `codegen.PyCodegen.__call__` (2.0), by reading.

The first that applies is used: a temporary, the source, a constant, an output of the graph, and last the kind's own
`VariableTracker.reconstruct` (2.0), which builds the value from its parts; the base class's raises.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch._dynamo.variables import base as _base

from dynascope.agent.internals.codegen.codegen import EndedGraph, ending_of
from dynascope.agent.internals.frames.instructions import constant_text
from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.variables import held
from dynascope.agent.internals.variables.kinds import contents
from dynascope.agent.internals.variables.variables import (
    SideEffects,
    class_name,
    class_names,
    fields,
    is_modified,
    is_variable,
    key_variable,
    without_lazy,
)

Kind = Literal["source", "constant", "graph output", "module", "new object", "rebuilt", "impossible"]

_PARTS_READ = 2_000
"""The most parts of a value that are read; the others are taken to be possible."""

_DEPTH = 50
"""The most levels of parts that are read."""

_REFUSED = {
    "ContextlibContextManagerLocalGeneratorObjectVariable": "an object of @contextmanager cannot leave compiled code",
    "FakeIdVariable": "the id() of something that exists in the trace only",
    "ProfilerContextVariable": "a profiler's context manager cannot leave compiled code",
    "PreserveVersionContextVariable": "this context manager cannot leave compiled code",
    "WithEnterFunctionVariable": "the __enter__ of a context manager cannot leave compiled code",
    "ComptimeVariable": "comptime exists in the trace only",
    "AutogradFunctionContextVariable": "the ctx of an autograd.Function cannot leave compiled code",
}
"""Kinds whose `reconstruct` raises (`exc.unimplemented`), or for which `PyCodegen` itself does."""

_RUN_OUT = (
    "run to its end there, and an iterator over what is left put in its place; not possible if that changes anything"
)

_OUTPUTS = frozenset(
    {
        "TensorVariable",
        "SymNodeVariable",
        "UnspecializedPythonVariable",
        "NumpyNdarrayVariable",
        "TorchScriptObjectVariable",
        "CustomClassObjectVariable",
    }
)
_CONSTANT_TYPES = (
    *(int, float, complex, bool, str, bytes, type(None), type(...), type(NotImplemented), slice, types.CodeType),
    *(torch.device, torch.dtype, torch.memory_format, torch.layout, torch.finfo, torch.iinfo),
)
"""Types that `utils.is_safe_constant` (2.0) accepts by exact type, as far as users know them."""


@dataclass(frozen=True, slots=True)
class Way:
    """`text` is for the user: an expression of the generated code, its action, or why the value cannot be rebuilt."""

    kind: Kind
    text: str


def way(variable: object, effects: SideEffects) -> Way:
    """Return how a value is rebuilt; after the graph's end, with names of the generated code."""
    return _InstructionReader(effects, ending_of(effects.output)).way(variable)


def expression(source: Any) -> str:
    """Return a source's expression, or a local's (`source.TempLocalSource`, 2.7) or cell's name."""
    known = source_text(source)
    if known == type(source).__name__:  # it has no expression: no guard can be on it
        return str(getattr(source, "local_name", known))
    return known or type(source).__name__


class _InstructionReader:
    """Read one value with all its parts, each part once."""

    def __init__(self, effects: SideEffects, ending: EndedGraph | None) -> None:
        self._effects = effects
        self._ending = ending
        self._seen: set[int] = set()
        self._depth = 0

    def way(self, variable: object) -> Way:
        if self._ending is not None and self._ending.codegen is None:
            index = index_of_output(variable, self._ending)
            if index is not None:
                return Way("graph output", f"output {index} of the graph")
        seen, cache = without_lazy(variable)
        if seen is None:
            source = vars(cache).get("source")
            if source is None:
                return Way("rebuilt", "computed again from what it was computed from")
            return self._of_source(source)
        known, names = fields(seen), class_names(seen)
        refused = _REFUSED.get(names[0])
        runs_out = "LocalGeneratorObjectVariable" in names
        source = known.get("source")
        if source is not None and not runs_out:
            is_exported = self._effects.output.export  # (2.0): its inputs are also outputs of the graph
            if is_exported and type(known.get("mutation_type")).__name__ != "ValueMutationExisting":
                return self._made_anew(seen, known, names, contents(seen, self._effects))
            if type(source).__name__ == "TempLocalSource":  # the generated code stores it in this local
                content = contents(seen, self._effects)
                return Way("new object", f"{expression(source)}, a new {_what(content, names)}")
            return self._of_source(source, is_modified(seen))
        if refused is not None:
            return Way("impossible", refused)
        if runs_out:
            return Way("rebuilt", _RUN_OUT)
        content = contents(seen, self._effects)
        return self._made_anew(seen, known, names, content)

    def _of_source(self, source: Any, modified: bool = False) -> Way:
        used = source if self._ending is None else self._ending.overridden().get(source, source)
        text = expression(used)
        return Way("source", f"{text}, with the changes that are replayed on it" if modified else text)

    def _made_anew(self, seen: object, known: dict[str, Any], names: tuple[str, ...], content: held.Contents) -> Way:
        if self._is_constant(content, names):
            shown = (
                f"the constant {constant_text(content.value)}"
                if isinstance(content, (held.Constant, held.Real))
                else "a constant"
            )
            return Way("constant", shown)
        if not _OUTPUTS.isdisjoint(names):
            return Way("graph output", self._output(seen, names))
        if "NNModuleVariable" in names:
            return Way("module", f"the module {known.get('module_key')}, kept by the compiled code")
        mutation = known.get("mutation_type")
        has_own = type(seen).reconstruct is not _base.VariableTracker.reconstruct  # type: ignore[attr-defined]
        if type(mutation).__name__ == "AttributeMutationNew" and not has_own:
            return self._new_object(seen, mutation, names, content)
        if isinstance(content, held.Unset):
            return Way("constant", content.why)
        if not has_own:
            return Way("impossible", f"Dynamo has no bytecode that makes a {names[0].removesuffix('Variable')} again")
        return self._of_parts(f"{_what(content, names)} made anew", content)

    def _new_object(self, seen: object, mutation: Any, names: tuple[str, ...], content: held.Contents) -> Way:
        if "CellVariable" in names:
            return self._of_parts("a new cell", content, "new object")
        if getattr(mutation, "cls_source", None) is None:
            return Way("impossible", "an object whose class was made in the compiled function")
        return self._of_parts(f"{_what(content, names)}: __new__, then its attributes", content, "new object")

    def _of_parts(self, text: str, content: held.Contents, kind: Kind = "rebuilt") -> Way:
        if self._depth >= _DEPTH:
            return Way(kind, text)
        self._depth += 1
        for name, part in parts_of(content):
            if id(part) in self._seen or len(self._seen) >= _PARTS_READ:
                continue
            self._seen.add(id(part))
            found = self.way(part)
            if found.kind == "impossible":
                return Way("impossible", f"{name}: {found.text}")
        self._depth -= 1
        return Way(kind, text)

    def _output(self, seen: object, names: tuple[str, ...]) -> str:
        node = getattr(fields(seen).get("proxy"), "node", None)
        text = "a new output of the graph" + (f": %{node.name}" if node is not None else "")
        ending = self._ending
        if ending is not None:
            index = index_of_output(seen, ending)
            if index is None:
                return "an output of the graph"
            text = f"{ending.variable}[{index}]" if ending.variable else f"output {index} of the graph"
        if "NumpyNdarrayVariable" in names:
            return f"{text}, as a numpy array"
        if "TensorWithTFOverrideVariable" in names:
            return f"{text}, as its subclass"
        content = contents(seen, self._effects)
        is_float = isinstance(content, held.Number) and issubclass(type(content.symbolic), torch.SymFloat)
        return f"{text}.item()" if is_float or fields(seen).get("need_unwrap") is True else text

    def _is_constant(self, content: held.Contents, names: tuple[str, ...]) -> bool:
        match content:
            case held.Constant() | held.Real():
                return _is_safe(content.value)
            case held.Object():
                return issubclass(type(content.value), (enum.Enum, type))
            case held.Unrealised():
                return False
            case held.Items() if content.kind in ("tuple", "torch.Size"):
                return len(content.items) <= _PARTS_READ and all(map(self._is_constant_variable, content.items))
            case held.Parts() if "SliceVariable" in names:
                return all(map(self._is_constant_variable, content.parts.values()))
            case held.Members() if content.kind == "frozenset":
                return all(self._is_constant_variable(key_variable(each)) for each in content.members)
        return False

    def _is_constant_variable(self, variable: object) -> bool:
        seen, _ = without_lazy(variable)
        return seen is not None and self._is_constant(contents(seen, self._effects), class_names(seen))


def index_of_output(variable: object, ending: EndedGraph) -> int | None:
    """Return the variable's index among the outputs, or None; variables may share a node."""
    seen, _ = without_lazy(variable)
    if seen is None:
        return None
    known = fields(seen)
    handles = seen, known.get("_tensor_var"), known.get("proxy")  # `_tensor_var` is the output of a float
    found = (ending.index_by_id.get(id(each)) for each in handles if each is not None)
    return next((index for index in found if index is not None), None)


def _is_safe(value: object) -> bool:
    kind = type(value)
    if kind in (tuple, frozenset):
        return all(map(_is_safe, value))  # type: ignore[call-overload]
    return kind in _CONSTANT_TYPES or issubclass(kind, (enum.Enum, type, torch.Size, types.GenericAlias))


def _what(content: held.Contents, names: tuple[str, ...]) -> str:
    match content:
        case held.Items():
            return f"{content.kind} of {len(content.items)}"
        case held.Entries():
            return f"{content.kind} of {len(content.entries)}"
        case held.Members():
            return f"{content.kind} of {len(content.members)}"
        case held.NestedFunction():
            return f"function {content.name}"
        case held.Object():
            return class_name(content.cls)
        case held.Parts():
            return content.title
    return names[0].removesuffix("Variable")


def parts_of(content: held.Contents) -> Iterator[tuple[str, object]]:
    """Yield the parts of a value by their names in the Variables view."""
    match content:
        case held.Items():
            for i, item in enumerate(content.items):
                yield content.names[i] if i < len(content.names) else f"[{i}]", item
        case held.Entries():
            yield from ((f"[{i}]", value) for i, value in enumerate(content.entries.values()))
        case held.Members():
            yield from ((f"[{i}]", key_variable(member)) for i, member in enumerate(content.members))
        case held.Object():
            yield from content.pending.items()
            if content.builtin_part is not None:
                yield from parts_of(content.builtin_part)
        case held.Parts():
            yield from ((name, part) for name, part in content.parts.items() if is_variable(part))
            yield from ((f"[{i}]", part) for i, part in enumerate(content.rest or ()) if is_variable(part))
        case held.NestedFunction():
            yield from content.cells.items()
            defaults = {"__defaults__": content.defaults, "__kwdefaults__": content.keyword_defaults}
            yield from ((name, part) for name, part in defaults.items() if is_variable(part))
        case held.Cell() if content.contents is not None:
            yield "cell_contents", content.contents
