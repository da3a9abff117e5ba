"""Read the contents of each kind of VariableTracker from its private fields, from torch 2.11 to 2.15.

Kinds are found by class name, most derived first; `variables` says why no method of the variable is called. Names
without a version exist since 2.0. To learn what a field means, start at `_READERS`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.variables import held, iterators
from dynascope.agent.internals.variables.variables import (
    SideEffects,
    builtin_part,
    class_names,
    fields,
    is_variable,
    variables_among,
    without_lazy,
)

Reader: TypeAlias = Callable[[object, dict[str, Any], SideEffects], held.Contents]


def contents(variable: object, effects: SideEffects) -> held.Contents:
    """Return the contents of `variable`; of a realised lazy one, those of the variable in it."""
    seen, cache = without_lazy(variable)
    if seen is None:
        return _unrealised(cache)
    kind = type(seen)
    reader = _readers_by_type.get(kind)
    if reader is None:
        found = (_READERS[name] for name in class_names(seen) if name in _READERS)
        reader = _readers_by_type[kind] = next(found, _anything)
    return reader(seen, fields(seen), effects)


def _unrealised(cache: Any) -> held.Contents:
    known = vars(cache)
    if "op" in known:  # ComputedLazyCache: a constant computed from lazies
        return held.Unrealised(known.get("value"), None, (known["op"].__name__, list(known.get("args") or ())))
    value = known.get("value", held.MISSING)
    if value is held.MISSING:
        return held.Unset("lazy without a value", is_error=True)
    return held.Unrealised(value, source_text(known.get("source")))


def _constant(_: object, known: dict[str, Any], __: SideEffects) -> held.Contents:
    return held.Constant(known.get("value"))


def _tensor(variable: object, known: dict[str, Any], _: SideEffects) -> held.Contents:
    node = known["proxy"].node
    example = node.meta.get("example_value")
    if "UnspecializedPythonVariable" in class_names(variable) or "FakeItemVariable" in class_names(variable):
        return (
            held.Number(known.get("raw_value", example), node)
            if "raw_value" in known
            else held.Tensor(example, node, None)
        )
    return held.Tensor(example, node, known.get("class_type"))


def _number(_: object, known: dict[str, Any], __: SideEffects) -> held.Contents:
    proxy = known.get("proxy")
    symbolic = known.get("sym_num")
    node = getattr(proxy, "node", None)
    if symbolic is None and node is not None:
        symbolic = node.meta.get("example_value")
    return held.Number(symbolic, node)


_ITEM_KINDS = {
    "ListVariable": "list",
    "SizeVariable": "torch.Size",
    "NamedTupleVariable": "namedtuple",
    "TupleVariable": "tuple",
    "DequeVariable": "deque",
}


def _items(variable: object, known: dict[str, Any], _: SideEffects) -> held.Items:
    kind = next((_ITEM_KINDS[name] for name in class_names(variable) if name in _ITEM_KINDS), "list")
    cls = known.get("tuple_cls")
    names = tuple(getattr(cls, "_fields", ()) or ()) if isinstance(cls, type) else ()
    return held.Items(cls.__name__ if names and cls is not None else kind, _sequence(known.get("items")), names)


def _sequence(items: object) -> Sequence[object]:
    return items if isinstance(items, (list, tuple)) else list(items) if hasattr(items, "__iter__") else ()


def _entries(variable: object, known: dict[str, Any], _: SideEffects) -> held.Contents:
    items = known.get("items")
    if not isinstance(items, dict):  # a DunderDictVariable's view of attributes realises when it is read
        return held.Parts("object.__dict__", {k: v for k, v in known.items() if is_variable(v)})
    cls = known.get("user_cls")
    if "OrderedDictVariable" in class_names(variable):
        cls = "OrderedDict"
    elif "DefaultDictVariable" in class_names(variable):
        cls = "defaultdict"
    return held.Entries(cls if isinstance(cls, str) else getattr(cls, "__name__", "dict"), items)


def _members(variable: object, known: dict[str, Any], _: SideEffects) -> held.Contents:
    names = class_names(variable)
    kind = "frozenset" if "FrozensetVariable" in names else "dict_keys" if "DictKeySetVariable" in names else "set"
    items = known.get("items")
    return held.Members(kind, items if isinstance(items, dict) else dict.fromkeys(_sequence(items)))


def _object(variable: object, known: dict[str, Any], effects: SideEffects) -> held.Contents:
    value = known.get("value")
    cls = known.get("value_type")
    return held.Object(
        value=value,
        cls=cls if isinstance(cls, type) else type(value),
        pending=effects.pending_attributes(variable),
        builtin_part=_builtin_part(variable, known, effects),
        is_new=known.get("source") is None,
    )


def _builtin_part(variable: object, known: dict[str, Any], effects: SideEffects) -> held.Elements | None:
    """Return what is in a subclass of a container.

    Reads the variable that `builtin_part` returns, and own `items` (2.14).
    """
    base = builtin_part(known)
    if base is not None and is_variable(base):
        content = contents(base, effects)
        if isinstance(content, held.Items):
            names = tuple(getattr(known.get("tuple_cls"), "_fields", ()) or ())
            return held.Items(content.kind, content.items, names)
        return content if isinstance(content, (held.Entries, held.Members)) else None
    items = known.get("items")
    if items is None:
        return None
    names = class_names(variable)
    if any(name in names for name in ("BaseSetVariable", "SetVariable")):
        return held.Members("set", items) if isinstance(items, dict) else None
    if isinstance(items, dict):
        return held.Entries("dict", items)
    return _items(variable, known, effects) if isinstance(items, (list, tuple)) else None


def _module(_: object, known: dict[str, Any], __: SideEffects) -> held.Contents:
    value = known.get("value")
    return held.Real(value) if value is not None else held.Parts(f"module {known.get('module_key')}")


def _function(_: object, known: dict[str, Any], __: SideEffects) -> held.Contents:
    return held.Real(known["fn"]) if known.get("fn") is not None else held.Parts("function", variables_among(known))


def _nested_function(_: object, known: dict[str, Any], effects: SideEffects) -> held.Contents:
    name, code = (_constant_value(known.get(key), effects) for key in ("fn_name", "code"))
    if not isinstance(code, types.CodeType):
        return held.Parts(f"function {name}", variables_among(known))
    closure = known.get("closure")
    content = contents(closure, effects) if is_variable(closure) else None
    cells = dict(zip(code.co_freevars, content.items, strict=False)) if isinstance(content, held.Items) else {}
    defaults, keyword_defaults = known.get("defaults"), known.get("kwdefaults")
    return held.NestedFunction(str(name), code, known.get("f_globals") or {}, cells, defaults, keyword_defaults)


def _constant_value(variable: object, effects: SideEffects) -> object:
    """Return the value of a constant variable, realised or not; any other object unchanged."""
    if not is_variable(variable):
        return variable
    content = contents(variable, effects)
    return content.value if isinstance(content, (held.Constant, held.Unrealised, held.Real)) else None


def _method(_: object, known: dict[str, Any], effects: SideEffects) -> held.Contents:
    function = known.get("im_func", known.get("fn"))  # `im_func` and `im_self` since 2.14; `fn` and `obj` before
    owner = known.get("im_self", known.get("obj"))
    plain = _constant_value(function, effects)
    is_known = isinstance(plain, types.FunctionType)
    parts = {"__self__": owner} if is_variable(owner) else {}
    if is_variable(function):
        parts["__func__"] = function
    name = getattr(plain, "__qualname__", None) if is_known else None
    real = {"__func__": plain} if is_known and not is_variable(function) else {}
    return held.Parts(f"bound method {name or 'of'}", parts, real=real)


def _partial(_: object, known: dict[str, Any], __: SideEffects) -> held.Contents:
    arguments = {f"args[{i}]": v for i, v in enumerate(known.get("args") or ())}
    return held.Parts("partial", {"func": known.get("func"), **arguments, **(known.get("keywords") or {})}, call=True)


def _generator(_: object, known: dict[str, Any], __: SideEffects) -> held.Contents:
    tracer, code = known.get("inline_tracer"), known.get("code")
    name = getattr(code, "co_qualname", "generator")
    if tracer is None:
        return held.Parts(f"generator {name}", is_iterator=True)
    state = (
        "exhausted" if getattr(tracer, "generator_exhausted", False) else f"at line {getattr(tracer, 'lineno', '?')}"
    )
    left = known.get("remaining_items") or None  # generated code takes these in the generator's place (2.7)
    return held.Parts(f"generator {name} {state}", dict(tracer.symbolic_locals), is_iterator=True, rest=left)


def _range_or_slice(variable: object, known: dict[str, Any], _: SideEffects) -> held.Contents:
    kind = "slice" if "SliceVariable" in class_names(variable) else "range"
    return held.Parts(kind, dict(zip(("start", "stop", "step"), known.get("items") or (), strict=False)), call=True)


def _exception(_: object, known: dict[str, Any], effects: SideEffects) -> held.Contents:
    arguments = known.get("args") or ()
    if is_variable(arguments):
        content = contents(arguments, effects)
        arguments = content.items if isinstance(content, held.Items) else ()
    cls = known.get("exc_type") or known.get("value_type")
    parts = {f"args[{i}]": v for i, v in enumerate(arguments) if is_variable(v)}
    return held.Parts(getattr(cls, "__name__", "exception"), parts, call=True)


def _attribute(_: object, known: dict[str, Any], __: SideEffects) -> held.Contents:
    owner = known.get("obj")
    return held.Parts(
        f"attribute {known.get('name') or known.get('method_name')} of", {"object": owner} if owner else {}
    )


def _null(variable: object, _: dict[str, Any], __: SideEffects) -> held.Contents:
    return held.Unset({"NullVariable": "NULL", "DeletedVariable": "deleted"}.get(class_names(variable)[0], "unknown"))


def _real(variable: object, known: dict[str, Any], effects: SideEffects) -> held.Contents:
    for key in ("value", "fn", "descriptor", "fn_cls", "cm_obj", "random", "raw_value", "frame_summary"):
        value = known.get(key)
        if value is not None and not is_variable(value):
            return held.Real(value)
    return _anything(variable, known, effects)


def _anything(variable: object, known: dict[str, Any], _: SideEffects) -> held.Contents:
    """Describe a kind that has no reader: its class, and every variable among its fields."""
    return held.Parts(class_names(variable)[0].removesuffix("Variable"), variables_among(known))


_READERS: dict[str, Reader] = {
    "ConstantVariable": _constant,
    "FakeIdVariable": _constant,
    "EnumVariable": _constant,
    "TensorVariable": _tensor,
    "SymNodeVariable": _number,
    "RangeVariable": _range_or_slice,
    "SliceVariable": _range_or_slice,
    "BaseListVariable": _items,
    "ConstDictVariable": _entries,
    "SetVariable": _members,
    "BaseSetVariable": _members,
    "CellVariable": lambda variable, _, effects: held.Cell(effects.cell_contents(variable)),
    "UserDefinedObjectVariable": _object,
    "NNModuleVariable": _module,
    "UserMethodVariable": _method,
    "UserFunctionVariable": _function,
    "NestedUserFunctionVariable": _nested_function,
    "FunctoolsPartialVariable": _partial,
    "LocalGeneratorObjectVariable": _generator,
    "ExceptionVariable": _exception,
    **iterators.READERS,
    "GetAttrVariable": _attribute,
    "CallMethodVariable": _attribute,
    "NullVariable": _null,
    "DeletedVariable": _null,
    "UnknownVariable": _null,
    "VariableTracker": _real,
}
_readers_by_type: dict[type, Reader] = {}
