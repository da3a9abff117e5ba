"""Read what the user asks: `what if x.shape[0] dynamic`, `what if n = 8`, `what if graph break`."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any, Literal

from dynascope.agent.inspection.values import EvaluationError

Kind = Literal["dynamic", "static", "constant"]

_DECIDED = re.compile(r"(.+?)(?:\s+is)?\s+(dynamic|static|constant)(?:\s+(\d+))?", re.DOTALL)
_ASSIGNED = re.compile(r"(.+?)\s*=(?!=)\s*(.+)", re.DOTALL)
_ADVISED = re.compile(r"torch\._dynamo\.config\.(\w+)`? ?(?:=|(?:set )?to) ?`?(\w+)")
_SETTING = re.compile(r"(?:torch\._dynamo\.)?config\.(\w+)")

HELP = """\
what if x.shape[0] dynamic   this size of an input, or an int, is not fixed (x dynamic: every size)
what if x.shape[0] static    it is fixed to the number that it has in this call (x static: every size)
what if n constant           the same for a number
what if n = 8                a local has this value from here on: a number, a bool, a string or None
what if graph break          the graph ends here
what if config.NAME = VALUE  a setting of torch._dynamo.config has this value
what if hint                 the setting that the graph break at which you are stopped advises
what if keep                 the change tried last is made when the program goes on, in this compile
what if undo                 the change kept last is made no more"""


@dataclass(frozen=True)
class Decided:
    """A local's number, or a size of its tensor (all with None), is to be dynamic, static or constant."""

    name: str
    dimension: int | None
    kind: Kind


@dataclass(frozen=True)
class Assigned:
    """A local, or with `is_setting` a setting of Dynamo, is to have a value."""

    name: str
    value: Any
    is_setting: bool = False


def parsed(text: str) -> Decided | Assigned:
    """Return what a question asks for. Raises EvaluationError."""
    if match := _DECIDED.fullmatch(text):
        name, dimension = _target(match[1])
        if match[3] is not None:
            dimension = int(match[3])
        return Decided(name, dimension, match[2])  # type: ignore[arg-type]
    if match := _ASSIGNED.fullmatch(text):
        try:
            value = ast.literal_eval(match[2])
        except (ValueError, SyntaxError):
            value = NotImplemented
        if type(value) not in (int, float, bool, str, type(None)):
            raise EvaluationError(f"Only a number, a bool, a string or None can be tried, not `{match[2]}`.")
        setting = _SETTING.fullmatch(match[1])
        if setting is not None:
            return Assigned(setting[1], value, is_setting=True)
        name, dimension = _target(match[1])
        if dimension is not None:
            raise EvaluationError(f"A size can be dynamic or static: `what if {match[1]} static`.")
        return Assigned(name, value)
    raise EvaluationError(f"What can be tried is:\n{HELP}")


def advised(message: str) -> list[tuple[str, Any]]:
    """Return the settings of Dynamo that a graph break's message names, each with a value.

    Among them are those that it says are so now: "`config.trace_numpy` set to `False`".
    """
    found = []
    for name, value in _ADVISED.findall(message):
        try:
            found.append((name, ast.literal_eval(value)))
        except ValueError:  # a word of the sentence
            continue
    return found


def _target(text: str) -> tuple[str, int | None]:
    """Return a local's name, and the dimension in `x.shape[0]` or `x.size(0)`."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        node = ast.Constant(None)
    match node:
        case ast.Name(name):
            return name, None
        case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant(int(dimension))):
            return name, dimension
        case ast.Call(ast.Attribute(ast.Name(name), "size"), [ast.Constant(int(dimension))], []):
            return name, dimension
    raise EvaluationError(f"Name a local variable or a size of one, as `x.shape[0]`, not `{text}`.")
