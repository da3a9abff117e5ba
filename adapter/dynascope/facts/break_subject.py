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
_OPERATOR = re.compile(r"Operator `(?:aten\.(?P<operator>\w+)|[\w.]*?(?P<called>\w+)(?:\.default)?`)")
_WITHOUT_FAKE = re.compile(r"unsupported operator: (?P<name>[\w.]+?)(?:\.default)?$")
_CONTEXT_MANAGER = re.compile(r"enter a `(?P<name>\w+)` context manager")
_LOGGED = re.compile(r"method: <(?:Root)?Logger .*?>\.(?P<name>\w+),")
_TARGET = re.compile(r"target: <function (?P<name>[\w.<>]+) at ")
_RAISED = re.compile(r"raised exception (?P<error>\w.*)")


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
    texts = f"{found.explanation}\n{found.context}"
    if (called := _CALLED.search(texts)) is not None:
        name = next(filter(None, called.groups()))
        return f"{name.replace('_VariableFunctionsClass.', '').rpartition('<locals>.')[2]}()"
    if (method := _METHOD.search(texts)) is not None:
        return f"{method['owner']}.{method['name']}()"
    if (entered := _CONTEXT_MANAGER.search(texts)) is not None:
        return f"with {entered['name']}"
    if (raised := _RAISED.match(found.context)) is not None:
        return raised["error"]
    logged, target = _LOGGED.match(found.context), _TARGET.search(found.context)
    if logged is not None or target is not None:
        return f"Logger.{logged['name']}()" if logged is not None else f"{target['name']}()"  # type: ignore[index]
    if (without_fake := _WITHOUT_FAKE.match(found.context)) is not None:
        return without_fake["name"]
    operator = _OPERATOR.search(texts)
    # as it is called: `torch.unique` for `aten._unique2`
    return "" if operator is None else f"{(operator['operator'] or operator['called']).strip('_0123456789')}()"
