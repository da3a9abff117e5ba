"""Read from torch's texts of a graph break at which call, method, operator or error it is."""

from __future__ import annotations

import re
from typing import Protocol


class Broken(Protocol):
    """A graph break, as a fact or as a message."""

    type: str
    explanation: str
    context: str


_CALLED = re.compile(
    r"builtin operator `(?P<operator>[\w.]+)`|builtin `(?P<builtin>[\w.]+?)\.?`|the function `(?P<function>[\w.<>]+)`"
    r"|calling function `(?P<called>[\w.<>]+)`|function `?<function (?P<object>[\w.<>]+) at "
)
_METHOD = re.compile(r"method `(?P<name>\w+)` of class `(?P<owner>\w+)`")
_OPERATOR = re.compile(r"Operator `(?P<name>[\w.]{1,200})`")
_WITHOUT_A_NAME = ("_local_scalar_dense", "index")
"""Operators of what is written otherwise: `float(x)`, `math.exp(x)`, `x[mask]`."""
_WITHOUT_FAKE = re.compile(r"unsupported operator: (?P<name>[\w.]+?)(?:\.default)?$")
_CONTEXT_MANAGER = re.compile(r"enter a `(?P<name>\w+)` context manager")
_LOGGED = re.compile(r"method: <(?:Root)?Logger [^<>]*>\.(?P<name>\w+),")
_TARGET = re.compile(r"example_value type: .{1,200}?target: <function (?P<name>[\w.<>]+) at ")
_ARGUMENT = re.compile(r"call_function args: .{0,1000}UserDefinedObjectVariable\((?P<name>\w+)\)")
_RAISED = re.compile(r"raised exception (?P<name>\w.*)")
_BY_OPTIMIZER = re.compile(r"Called `torch\._dynamo\.graph_break\(\)`[^\n]*\n\S*torch[/\\]optim[/\\](?P<name>\w+)\.py")
_OF_CONTEXT = (
    (_BY_OPTIMIZER, "Optimizer.step()"),
    (_RAISED, "{}"),
    (_LOGGED, "Logger.{}()"),
    (_TARGET, "{}()"),
    (_WITHOUT_FAKE, "{}"),
    (_ARGUMENT, "an argument of class {}"),
)
_IN_C = re.compile(r"^_(pickle|hashlib|warnings|json|csv|struct|operator|functools)\.(?:openssl_)?")
"""Functions of C modules that the program calls by another name: `pickle.dumps()`, `hashlib.md5()`."""
_LONGEST = 80
"""The length to which an error is cut."""


def about(found: Broken) -> str:
    """Return `subject: type`, or the type alone."""
    return ": ".join(filter(None, [subject_of(found), found.type]))


def subject_of(found: Broken) -> str:
    """Return `time.time()`, `ContextVar.get()`, `nonzero()`, `with lock`, `TypeError("…")`.

    It is "" where torch's texts, those of `torch._dynamo.exc.Unsupported` (2.11), do not tell it, or the type does.
    """
    subject = _subject(found)
    return "" if subject.removesuffix("()") in found.type else subject


def _subject(found: Broken) -> str:
    for pattern, text in _OF_CONTEXT:
        if (known := pattern.match(found.context)) is not None:
            return text.format(known["name"][:_LONGEST])
    told = found.explanation
    if (called := _CALLED.search(told)) is not None:
        name = next(filter(None, called.groups()))
        name = name.replace("_VariableFunctionsClass.", "").rpartition("<locals>.")[2]
        return _IN_C.sub(r"\1.", f"{name}()")
    if (method := _METHOD.search(told)) is not None:
        return f"{method['owner']}.{method['name']}()"
    if (entered := _CONTEXT_MANAGER.search(told)) is not None:
        return f"with {entered['name']}"
    operator = _OPERATOR.search(told)
    return _as_called(operator["name"]) if operator is not None else ""


def _as_called(operator: str) -> str:
    """Return `unique()` for `aten._unique2.default`, as it is called in a program."""
    namespace, _, rest = operator.partition(".")
    if namespace != "aten":
        return f"{operator.removesuffix('.default').rpartition('.')[2]}()"
    name = rest.partition(".")[0]
    if name in _WITHOUT_A_NAME:
        return ""
    return f"{name[1:].rstrip('0123456789') if name.startswith('_') else name}()"
