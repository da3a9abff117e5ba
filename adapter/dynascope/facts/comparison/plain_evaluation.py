"""Evaluate conditions, and count the elements of loops, from the texts of the values that they read."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from dynascope.facts.comparison.plain_branch import PROCESS_GROUP
from dynascope.facts.operators import ARITHMETIC, COMPARISONS

UNKNOWN: Any = object()
"""In place of a value that does not follow from the texts."""
_LENGTH = re.compile(r"of length (\d+)|a DataLoader of (\d+) batches")
_MEMBER = re.compile(r"[A-Za-z_]\w*\.[A-Za-z_]\w*")
"""A member of an enumeration: `Phase.DECODE`."""
_COMPARED = {**COMPARISONS, ast.Is: operator.is_, ast.IsNot: operator.is_not}
_SMALLEST: dict[str, Callable[..., Any]] = {"min": min, "max": max}
_AS_MANY = {"enumerate", "list", "reversed", "set", "sorted", "tqdm", "tuple"}
"""Functions whose result has as many elements as their first argument."""
_Texts = Mapping[str, str]


def text_of(name: str, values: _Texts) -> str | None:
    """Return the text of a value, or of a length: `len(batches)`."""
    if name in values:
        return values[name]
    if not name.startswith("len("):
        return None
    length = _length(values.get(name.removeprefix("len(").removesuffix(")"), ""))
    return str(length) if length is not None else None


def is_object(text: str) -> bool:
    """Whether the text of a value tells only the class of an object."""
    return text.startswith(("a ", "an ", PROCESS_GROUP))


def evaluated(node: ast.expr, values: _Texts) -> Any:
    """Return the value of an expression, or `UNKNOWN`."""
    text = text_of(ast.unparse(node), values)
    if text is not None:
        return _value_of(text)
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = evaluated(operand, values)
            return found if found is UNKNOWN else not found
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _of_numbers(operator.neg, [operand], values)
        case ast.BoolOp(op=op, values=operands):
            return _decided([evaluated(each, values) for each in operands], isinstance(op, ast.Or))
        case ast.Compare(left=left, ops=[compared], comparators=[right]) if type(compared) in _COMPARED:
            return _of_both(_COMPARED[type(compared)], [left, right], values)
        case ast.BinOp(left=left, op=computed, right=right) if type(computed) in ARITHMETIC:
            return _of_numbers(ARITHMETIC[type(computed)], [left, right], values)
        case ast.Call(func=ast.Name(id=name), args=[_, _, *_] as args) if name in _SMALLEST:
            return _of_numbers(_SMALLEST[name], args, values)
    return UNKNOWN


def _of_both(function: Callable[..., Any], nodes: list[ast.expr], values: _Texts) -> Any:
    found = [evaluated(each, values) for each in nodes]
    return UNKNOWN if UNKNOWN in found else function(*found)


def _of_numbers(function: Callable[..., Any], nodes: list[ast.expr], values: _Texts) -> Any:
    found = [evaluated(each, values) for each in nodes]
    return function(*found) if all(isinstance(each, int | float) for each in found) else UNKNOWN


def _decided(operands: list[Any], is_any: bool) -> Any:
    """Return whether any, or all, operands are true; `UNKNOWN` where that is open."""
    if any(each is not UNKNOWN and bool(each) is is_any for each in operands):
        return is_any
    return UNKNOWN if UNKNOWN in operands else not is_any


def length_of(node: ast.expr, values: _Texts) -> int | None:
    """Return how many elements an expression has; None where the texts do not tell it."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=args):
            bounds = [evaluated(each, values) for each in args]
            return len(range(*bounds)) if all(type(each) is int for each in bounds) else None
        case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as args):
            lengths = [length_of(each, values) for each in args]
            known = [each for each in lengths if each is not None]
            return min(known) if len(known) == len(lengths) else None
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _AS_MANY:
            return length_of(first, values)
        case ast.Call(func=ast.Attribute(value=container, attr="items" | "keys" | "values"), args=[]):
            return length_of(container, values)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return None if any(isinstance(each, ast.Starred) for each in parts) else len(parts)
        case ast.ListComp(generators=[ast.comprehension(iter=elements, ifs=[])]):
            return length_of(elements, values)
        case ast.Subscript(value=container, slice=ast.Slice(lower=lower, upper=upper, step=step)):
            length = length_of(container, values)
            bounds = [None if each is None else evaluated(each, values) for each in (lower, upper, step)]
            return None if length is None or UNKNOWN in bounds else len(range(length)[slice(*bounds)])
    return _length(values.get(ast.unparse(node), ""))


def _length(text: str) -> int | None:
    found = _LENGTH.fullmatch(text)
    return int(found[1] or found[2]) if found is not None else None


def _value_of(text: str) -> Any:
    """Return a value for which a condition has the same result as for the recorded one."""
    if text.startswith("of length"):
        return [None] * min(_length(text) or 0, 1)
    if is_object(text):
        return object()  # an object of a class: it is not None
    if _MEMBER.fullmatch(text):
        return text
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return UNKNOWN
