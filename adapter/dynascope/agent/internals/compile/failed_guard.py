"""Read the value that a failed guard names from the frame that is compiled again.

No code of the program runs: attributes are read from `__dict__`, items only from Python's own containers.
"""

from __future__ import annotations

import ast
import collections
import contextlib
import enum
import inspect
import re
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.overrides import _get_current_function_mode_stack

from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor, stride_text, tensor_text
from dynascope.facts.model import Recompile
from dynascope.facts.recompiles.guarded_value import GuardedValue, guarded_value, readable
from dynascope.facts.recompiles.recompile_reason import FailedGuard

_PLAIN = frozenset({int, float, bool, str, bytes, complex, type(None)})
_CONTAINERS = (list, tuple, dict, set, frozenset, OrderedDict, collections.deque, str)
_INDEXED = (list, tuple, dict, OrderedDict)
_CALLABLES = (types.FunctionType, types.BuiltinFunctionType, type)
_OF_PYTHON = (types.FunctionType, types.CellType)
"""Types whose attributes Python itself computes: `__code__`, `cell_contents`."""
_NAMED_TUPLE_FIELD = type(inspect.FullArgSpec.args)
"""The type of what reads a field of a named tuple: Python has no public name for it."""
_OF_TORCH = (torch.dtype, torch.device, torch.layout, torch.memory_format)
_MODULE_TABLES = ("_parameters", "_buffers", "_modules")
_VALUE_LENGTH = 120
_UNREADABLE = (SyntaxError, LookupError, TypeError, AttributeError, ValueError)
_KEYS_MET = re.compile(r"actual DispatchKeySet\((?P<keys>.*)\)")
_GLOBAL_STATE: dict[str, Callable[[], object]] = {
    "grad_mode": torch.is_grad_enabled,
    "inference_mode": torch.is_inference_mode_enabled,
    "default_dtype": torch.get_default_dtype,
    "num_threads": torch.get_num_threads,
    "deterministic_algorithms": torch.are_deterministic_algorithms_enabled,
    "deterministic_algorithms_warn_only": torch.is_deterministic_algorithms_warn_only_enabled,
    "autocast(cpu)_enabled": lambda: torch.is_autocast_enabled("cpu"),
    "autocast(cuda)_enabled": lambda: torch.is_autocast_enabled("cuda"),
    "autocast(cpu)_dtype": lambda: torch.get_autocast_dtype("cpu"),
    "autocast(cuda)_dtype": lambda: torch.get_autocast_dtype("cuda"),
    "torch_function_modes": lambda: [type(mode).__name__ for mode in _get_current_function_mode_stack()],
}
"""The current state of torch by its name in Dynamo's `GLOBAL_STATE` guard (2.2)."""


def recompile(failed: FailedGuard, frame: Any) -> Recompile:
    """Return the fact of a guard that failed for a frame (`DynamoFrameType`, 2.1)."""
    code = original_code(frame.f_code)
    return Recompile(
        path=code.co_filename,
        line=code.co_firstlineno,
        function=code.co_qualname,
        failed_compile_id=failed.failed_compile_id,
        guard=failed.guard,
        value=value_met(failed.guard, frame),
        guard_path=failed.path,
        guard_line=failed.line,
        hint=failed.hint,
    )


def value_met(guard: str, frame: Any) -> str | None:
    """Return the guard's value in this call: `x: f32[12, 16]`, `len(x): 3`, `grad_mode: False`.

    `frame` is Dynamo's view of a frame (`f_locals`, `f_globals`, 2.0). Returns None where the value cannot be read.
    """
    subject = guarded_value(guard)
    if subject.kind == "global state":
        return _global_state(subject.expression)
    if subject.kind == "dispatch key set":
        keys = _KEYS_MET.search(guard)
        return f"{subject.text}: {keys['keys']}" if keys is not None else None
    try:
        expression = ast.parse(subject.expression, mode="eval").body
        with torch._C.DisableTorchFunction():
            return _met(subject, _evaluate(expression, frame))
    except _UNREADABLE:
        return None


def numbers_met(guard: str, frame: Any) -> list[str]:
    """Return the numbers that a condition compares, each as text: `n: 14`, `x.size()[0]: 12`."""
    try:
        condition = ast.parse(re.sub(r"\bL\['(\w+)'\]", r"\1", guard), mode="eval")
    except SyntaxError:
        return []
    found, inner = dict[str, str](), set[ast.AST]()
    for node in ast.walk(condition):
        if node not in inner and isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            inner.update(ast.walk(node))
            with contextlib.suppress(*_UNREADABLE), torch._C.DisableTorchFunction():
                number = _number(node, frame)
                if type(number) in (int, float):
                    found[readable(ast.unparse(node))] = str(number)
    return [f"{name}: {number}" for name, number in found.items()]


def _number(node: ast.expr, frame: Any) -> Any:
    match node:
        case ast.Subscript(
            value=ast.Call(func=ast.Attribute(value=owner, attr="size")), slice=ast.Constant(value=dimension)
        ):
            tensor = _evaluate(owner, frame)
            return tensor.shape[dimension] if is_tensor(tensor) else None
    return _evaluate(node, frame)


def member_then(guard: str, value: Any) -> str | None:
    """Return the member of an enumeration that a guard wants, from the class of the value met."""
    wanted = re.match(r"___check_obj_id\(.+, (\d+)\)", guard)
    if wanted is None or not isinstance(type(value), enum.EnumType):
        return None
    members = vars(type(value))["_value2member_map_"].values()
    return next((value_text(member) for member in members if id(member) == int(wanted[1])), None)


def guarded_object(subject: GuardedValue, frame: Any, missing: Any = None) -> Any:
    """Return the value that a guard is on, in this call; `missing` if it cannot be read."""
    try:
        with torch._C.DisableTorchFunction():
            return _evaluate(ast.parse(subject.expression, mode="eval").body, frame)
    except _UNREADABLE:
        return missing


def object_of(source: str, output: Any, missing: Any = None) -> Any:
    """Return the value that a source (`L['x'].shape`) has in the call that is traced.

    Returns `missing` if it cannot be read. Reads `OutputGraph.local_scope` and `.global_scope` (2.0).
    """
    scope = {"L": output.local_scope, "G": output.global_scope}
    frame = types.SimpleNamespace(f_locals=scope, f_globals={})
    return guarded_object(GuardedValue("value", source), frame, missing)


def _met(subject: GuardedValue, value: Any) -> str | None:
    names = readable(subject.expression)
    match subject.kind:
        case "metadata":  # to read it would run the program's `__tensor_flatten__`
            return None
        case "length":
            container = next((each for each in _CONTAINERS if issubclass(type(value), each)), None)
            return None if container is None else f"{subject.text}: {container.__len__(value)}"
        case "type" if type(value) is not torch.Tensor:
            return f"{subject.text}: {type(value).__qualname__}"
        case "elements" if type(value) in (set, frozenset):
            return f"{subject.text}: {_elements(value)}"
        case "keys" | "attribute" if issubclass(type(value), dict):
            return f"{subject.text}: {repr(list(dict.keys(value)))[:_VALUE_LENGTH]}"
        case "requires_grad" if is_tensor(value):
            return f"{subject.text}: {value.requires_grad}"
        case "stride" if is_tensor(value):
            return f"strides of {names}: {stride_text(value)}"
        case "aliases":
            objects = len({id(each) for each in value})
            return f"{subject.text}: {'one object' if objects == 1 else f'{objects} objects'}"
        case "sizes":
            return ", ".join(f"{name}: {value_text(each)}" for name, each in zip(names.split(", "), value, strict=True))
    return f"{names}: {value_text(value)}"


def _elements(value: set[Any] | frozenset[Any]) -> str:
    texts = sorted(map(value_text, value)) if all(type(each) in _PLAIN for each in value) else None
    return f"{{{', '.join(texts)}}}"[:_VALUE_LENGTH] if texts else value_text(value)


def _global_state(names: str) -> str | None:
    known = [f"{name}: {_GLOBAL_STATE[name]()}" for name in names.split() if name in _GLOBAL_STATE]
    return ", ".join(known) or None


def _evaluate(node: ast.expr, frame: Any) -> Any:
    match node:
        case ast.Name(id=name):
            values = frame.f_locals
            return values[name] if name in values or name != "G" else frame.f_globals
        case ast.Tuple(elts=elements):
            return tuple(_evaluate(element, frame) for element in elements)
        case ast.Attribute(value=owner, attr=name):
            return _attribute(_evaluate(owner, frame), name)
        case ast.Call(func=ast.Name(id="type" | "dict" as function), args=[argument]):
            value = _evaluate(argument, frame)
            if function == "type" or type(value) in (dict, types.MappingProxyType):
                return type(value) if function == "type" else dict(value)
        case ast.Subscript(value=owner, slice=ast.Subscript(slice=ast.Constant(value=int(index))) as key) if (
            ast.unparse(key) == f"list(dict.keys({ast.unparse(owner)}))[{index}]"
        ):  # no key is looked up: that could call the program's `__eq__`
            return list(dict.values(_evaluate(owner, frame)))[index]
        case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
            container = _evaluate(owner, frame)
            if _is_one_of(type(container), _INDEXED):
                return container[key]
            if issubclass(type(container), tuple) and type(key) is int:
                return tuple.__getitem__(container, key)
    raise TypeError(ast.unparse(node))


def _attribute(owner: Any, name: str) -> Any:
    if issubclass(type(owner), types.ModuleType):
        return owner.__dict__[name]
    # a class may have a property of that name, such as a proxy's
    has_own = isinstance(inspect.getattr_static(type(owner), "__dict__", None), types.GetSetDescriptorType)
    attributes: dict[str, Any] = {}
    with contextlib.suppress(AttributeError):
        attributes = object.__getattribute__(owner, "__dict__") if has_own else {}
    if name == "__dict__":
        return attributes
    if name in attributes:
        return attributes[name]
    for table in _MODULE_TABLES:
        if name in attributes.get(table, ()):
            return attributes[table][name]
    if name == "grad" and is_tensor(owner):
        return torch.Tensor.grad.__get__(owner) if torch.Tensor.is_leaf.__get__(owner) else None  # type: ignore[attr-defined]
    found = inspect.getattr_static(type(owner), name)
    is_slot = isinstance(found, types.MemberDescriptorType)
    if (
        is_slot
        or type(found) is _NAMED_TUPLE_FIELD
        or (_is_one_of(type(owner), _OF_PYTHON) and isinstance(found, types.GetSetDescriptorType))
    ):
        return found.__get__(owner)
    if hasattr(type(found), "__get__"):
        raise AttributeError(name)
    return found


def value_text(value: Any) -> str:
    """Return a value as text, `f32[8, 16]` for a tensor; the type where it may be anything."""
    if is_tensor(value):
        return tensor_text(value)
    if _is_one_of(type(value), _PLAIN) or _is_one_of(type(value), _OF_TORCH):
        return repr(value)[:_VALUE_LENGTH]
    if _is_one_of(type(value), _CONTAINERS):
        return f"{type(value).__name__} of {len(value)}"
    if issubclass(type(type(value)), enum.EnumType):
        return f"{type(value).__qualname__}.{object.__getattribute__(value, '__dict__').get('_name_')}"
    if issubclass(type(value), type):
        return _name_of_class(value)
    if _is_one_of(type(value), _CALLABLES):
        return str(value.__qualname__).replace("_VariableFunctionsClass.", "torch.")
    if type(value) is types.CodeType:
        return value.co_qualname
    return _name_of_class(type(value))


def _is_one_of(kind: type, kinds: Iterable[object]) -> bool:
    """Whether a class is one of some; `in` would call methods of the program's metaclass."""
    return any(kind is each for each in kinds)


def _name_of_class(kind: type) -> str:
    """Return the qualified name, without what a metaclass of the program makes of it."""
    name: str = type.__dict__["__qualname__"].__get__(kind)
    return name
