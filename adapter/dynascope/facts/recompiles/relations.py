"""Read from the shape guards of a compile what a size must fit, and whether the function asks more of it."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from dynascope.facts.operators import ARITHMETIC, COMPARISONS
from dynascope.facts.recompiles.guarded_value import readable

_OTHERS = (2, 3, 17, 64, 1000)
"""The numbers that are tried for other sizes."""
EMPTY: Mapping[str, float] = {}
_TRIED = (*range(2, 64), 1000, 4096)
"""The numbers for which a condition is tried; Inductor bounds some sizes by 4096 on the CPU."""


class Relations(Struct, frozen=True):
    """The conditions of shape guards on a size, except that it is neither 0 nor 1."""

    fits: tuple[str, ...] = ()
    """The other sizes and numbers that it must fit, `y.size()[0]`; one compile serves all that do."""
    is_equal: bool = True
    """Whether it must be as large as each of them."""
    asked: tuple[str, ...] = ()
    """The other conditions on it, or on one that it must fit, that some values do not meet: `7 <= x.size()[0]`."""
    conditions: tuple[str, ...] = ()
    """The other conditions on it alone: `x.size()[0] <= 4096`, `x.size()[0] % 8 == 0`."""
    is_known: bool = False
    """Whether any guard is on it."""
    read: frozenset[str] = frozenset()
    """The sizes and numbers that the asked conditions read."""


def is_always_true(condition: str, size: str, numbers: Collection[float], others: Mapping[str, float]) -> bool:
    """Whether a condition is true for all of these numbers, whatever the other sizes are."""
    parsed = _parsed(condition)
    return parsed is not None and _hold(parsed, {size}, numbers, others)


def relations(
    size: str, conditions: Iterable[str], seen: Collection[float] = (), others: Mapping[str, float] = EMPTY
) -> Relations:
    """Return what the conditions demand of `size`: `x.size()[0]`.

    `seen` are the values that it has had: what is true of all of them, whatever `others` are, parts no compiles,
    such as the upper bound that Inductor sets to index with 32 bits.
    """
    parsed = [each for each in map(_parsed, conditions) if each is not None]
    together = {size}
    while more := {name for each in parsed if each.fits and together & each.values for name in each.values} - together:
        together |= more
    about = [each for each in parsed if together & each.values]
    is_equal = all(each.is_equal for each in about if each.fits)
    equals = together if is_equal else {size}
    asked = [each for each in about if not each.fits and not each.is_harmless and not _leaves_out_few(each, size)]
    asked = [each for each in asked if not _hold(each, equals, seen, others)]
    return Relations(
        fits=tuple(sorted(together - {size})),
        is_equal=is_equal,
        asked=tuple(each.text for each in asked),
        conditions=tuple(each.text for each in about if each.values == {size} and not each.is_lowest),
        is_known=any(size in each.values for each in parsed),
        read=frozenset(name for each in asked for name in each.values),
    )


def _leaves_out_few(condition: _Condition, size: str) -> bool:
    """Whether a condition on a number of Python is true of each from 2 on that is tried."""
    if len(condition.values) != 1 or size in condition.values or not all(map(is_number, condition.values)):
        return False
    return _hold(condition, condition.values, _TRIED)


def conditions_on_layout(size: str, conditions: Iterable[str]) -> list[str]:
    """Return the conditions on the storage offset of the tensor that has a size."""
    offset = f"{size.partition('.size()')[0]}.storage_offset()"
    return [each.text for each in map(_parsed, conditions) if each is not None and each.values == {offset}]


def numbers_served(
    value: str, conditions: Iterable[str], numbers: Iterable[float], others: Mapping[str, float]
) -> set[float] | None:
    """Return the numbers for which all conditions on a value are true.

    The conditions may read `others`, which are what they were. The result is None where a condition cannot be read.
    Equations between it and others are taken to be true.
    """
    parsed = [each for each in map(_parsed, conditions) if each is not None and value in each.values]
    asked = [each.expression for each in parsed if each.values == {value} or not (each.fits or each.is_harmless)]
    try:
        return {number for number in numbers if all(_evaluated(each, {**others, value: number}) for each in asked)}
    except (LookupError, ArithmeticError):
        return None


def hold(conditions: Iterable[str], values: Mapping[str, float]) -> bool:
    """Whether shape guards on these values are known to be true, those on strides apart."""
    parsed = [*map(_parsed, conditions)]
    try:
        return all(
            each is not None and (_is_elsewhere(each, values) or _evaluated(each.expression, values)) for each in parsed
        )
    except (LookupError, ArithmeticError):
        return False


def is_own_bound(conditions: Iterable[str], values: Mapping[str, float]) -> bool:
    """Whether a bound is the value itself, so that another call would have had another bound.

    Backends add such conditions when they compare strides with their values in that call.
    """
    return any(_is_at_bound(each.expression, values) for each in map(_parsed, conditions) if each is not None)


def _is_at_bound(expression: ast.expr, values: Mapping[str, float]) -> bool:
    if isinstance(expression, ast.BoolOp) and isinstance(expression.op, ast.And):
        return any(_is_at_bound(each, values) for each in expression.values)
    if not isinstance(expression, ast.Compare):
        return False
    sides = [expression.left, *expression.comparators]
    pairs = [
        (low, high) if isinstance(op, ast.LtE) else (high, low)
        for low, op, high in zip(sides, expression.ops, sides[1:], strict=False)
        if isinstance(op, (ast.LtE, ast.GtE))
    ]
    # a constant on the lower side is a least size, such as 2, which all compiles have; two sizes may be equal in a call
    asked = [
        (low, high)
        for low, high in pairs
        if not isinstance(low, ast.Constant) and not any(_values(high)) and not _is_bare_number(low)
    ]
    try:
        return any(_evaluated(low, values) == _evaluated(high, values) for low, high in asked)
    except (LookupError, ArithmeticError):
        return False


def _is_bare_number(node: ast.expr) -> bool:
    """Whether an expression is a number of the program alone, and so not a stride."""
    name = _value(node)
    return name is not None and is_number(name)


def _is_elsewhere(condition: _Condition, values: Mapping[str, float]) -> bool:
    return condition.values.isdisjoint(values) or any(map(_is_on_strides, condition.values))


def _is_on_strides(value: str) -> bool:
    return ".stride()[" in value or ".storage_offset()" in value


def asks_sizes(conditions: Iterable[str], seen: Mapping[str, Collection[int]]) -> bool:
    """Whether shape guards (`SHAPE_ENV`) demand more of sizes than to be equal, and not 0 or 1.

    `seen` are the numbers that each size has had: a condition that is true of all of them parts no compiles.
    """
    return any(each is None or not _parts_no_compiles(each, seen) for each in map(_parsed, conditions))


def _parts_no_compiles(condition: _Condition, seen: Mapping[str, Collection[int]]) -> bool:
    if condition.is_harmless or (condition.fits and condition.is_equal):
        return True
    if len(condition.values) != 1:
        return False
    (value,) = condition.values
    return _hold(condition, condition.values, seen.get(value, ()))


def fits_numbers(conditions: Iterable[str]) -> bool:
    """Whether a size must fit a number of Python."""
    return any(each is not None and each.fits and any(map(is_number, each.values)) for each in map(_parsed, conditions))


def is_number(value: str) -> bool:
    """Whether a value that a size must fit is a number of Python, which cannot be marked."""
    return ".size()[" not in value


class _Condition(Struct, frozen=True):
    values: frozenset[str]
    fits: bool
    """Whether it is an equation between several values."""
    is_equal: bool
    """Whether it is one between two values alone."""
    is_harmless: bool
    """Whether contiguous tensors pass with any sizes but 0 and 1."""
    expression: ast.expr

    @property
    def text(self) -> str:
        return readable(ast.unparse(self.expression))

    @property
    def is_lowest(self) -> bool:
        """Whether it says that a size is neither 0 nor 1, and no more."""
        return self.is_harmless and isinstance(self.expression, ast.Compare) and len(self.values) == 1


def _parsed(condition: str) -> _Condition | None:
    try:
        expression = ast.parse(condition.strip(), mode="eval").body
    except SyntaxError:
        return None
    values = frozenset(_values(expression))
    match expression:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = [left, right]
            of_strides = any(map(_is_on_strides, values))
            is_equal = len(values) == 2 and all(_value(side) is not None for side in sides)
            return _Condition(values, not of_strides and len(values) > 1, is_equal, of_strides, expression)
        case ast.Compare(left=ast.Constant(value=2), ops=[ast.LtE()], comparators=[right]):
            return _Condition(values, False, False, _value(right) is not None, expression)
    return _Condition(values, False, False, False, expression)


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    **ARITHMETIC,
    **COMPARISONS,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "isnan": math.isnan,
    "int": int,
    "trunc": math.trunc,
    "floor": math.floor,
    "ceil": math.ceil,
    "sym_float": float,
    "sqrt": math.sqrt,
}
"""Functions of `math` and `torch` in conditions on floats, and on sizes that are scaled."""


def _hold(
    condition: _Condition, equals: Collection[str], seen: Collection[float], others: Mapping[str, float] = EMPTY
) -> bool:
    """Whether a condition is true for each number met, whatever the others are.

    It is False where the condition reads values that are not in `others`, or cannot be read.
    """
    read = condition.values - {*equals}
    around = [others, *({**others, **dict.fromkeys(read & {*others}, other)} for other in (_OTHERS if read else ()))]
    calls = ({**each, **dict.fromkeys(equals, number)} for each in around for number in seen)
    try:
        return bool(seen) and all(_evaluated(condition.expression, values) for values in calls)
    except (LookupError, ArithmeticError):
        return False


def _evaluated(node: ast.expr, values: Mapping[str, float]) -> Any:
    """Return the value of an expression; raises LookupError where it is not known."""
    if (name := _value(node)) is not None and name in values:
        return values[name]
    match node:
        case ast.Constant(value=int() | float() as value):
            return value
        case ast.Call():
            return _result(node, values)
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_evaluated(operand, values))
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_evaluated(left, values), _evaluated(right, values))
        case ast.BoolOp(op=op, values=operands):
            parts = [_evaluated(each, values) for each in operands]
            return all(parts) if isinstance(op, ast.And) else any(parts)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            sides = [_evaluated(each, values) for each in (left, *comparators)]
            pairs = zip(ops, sides, sides[1:], strict=False)
            return all(_OPERATORS[type(op)](one, other) for op, one, other in pairs)
    raise LookupError(ast.unparse(node))


def _result(call: ast.Call, values: Mapping[str, float]) -> Any:
    """Return the result of a function; raises LookupError where it is not known."""
    match call:
        case ast.Call(
            func=ast.Attribute(value=ast.Call(func=ast.Name(id="___as_tensor"), args=[operand]), attr="item")
        ):
            return _evaluated(operand, values)  # a float, with torch 2.11
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=[_, *_] as operands, keywords=[]):
            return {"max": max, "min": min}[name](_evaluated(each, values) for each in operands)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[operand], keywords=[]) if (
            name in _FUNCTIONS
        ):
            return _FUNCTIONS[name](_evaluated(operand, values))
    raise LookupError(ast.unparse(call))


def _values(node: ast.expr) -> Iterator[str]:
    """Yield the values that an expression reads."""
    value = _value(node)
    if value is not None:
        yield value
        return
    parts = node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    for part in parts:
        if isinstance(part, ast.expr):
            yield from _values(part)


def _value(node: ast.expr) -> str | None:
    """Return the text of a size, a stride or a number of the program, or None."""
    match node:
        case ast.Name() | ast.Attribute() | ast.Subscript():
            return readable(ast.unparse(node))
        case ast.Call(func=ast.Attribute(), args=[]):
            return readable(ast.unparse(node))
    return None
