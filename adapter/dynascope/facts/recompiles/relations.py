"""Read from the shape guards of a compile what a size must fit, and whether the function asks more of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct

from dynascope.facts.recompiles.guarded_value import readable


class Relations(Struct, frozen=True):
    """The conditions of shape guards on a size, except that it is neither 0 nor 1."""

    fits: tuple[str, ...] = ()
    """The other sizes and numbers that it must fit, `y.size()[0]`; one compile serves all that do."""
    is_equal: bool = True
    """Whether it must be as large as each of them."""
    is_asked: bool = False
    """Whether the function asks how large it, or one that it must fit, is."""
    is_known: bool = False
    """Whether any guard is on it."""


def relations(size: str, conditions: Iterable[str]) -> Relations:
    """Return what the conditions demand of `size`: `x.size()[0]`."""
    parsed = [each for each in map(_parsed, conditions) if each is not None]
    together = {size}
    while more := {name for each in parsed if each.fits and together & each.values for name in each.values} - together:
        together |= more
    about = [each for each in parsed if together & each.values]
    return Relations(
        fits=tuple(sorted(together - {size})),
        is_equal=all(each.is_equal for each in about if each.fits),
        is_asked=any(not each.fits and not each.is_harmless for each in about),
        is_known=any(size in each.values for each in parsed),
    )


def asks_sizes(conditions: Iterable[str]) -> bool:
    """Whether shape guards (`SHAPE_ENV`) demand more of sizes than to be equal, and not 0 or 1."""
    parsed = [_parsed(each) for each in conditions]
    return any(each is None or not (each.is_harmless or (each.fits and each.is_equal)) for each in parsed)


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


def _parsed(condition: str) -> _Condition | None:
    try:
        expression = ast.parse(condition.strip(), mode="eval").body
    except SyntaxError:
        return None
    values = frozenset(_values(expression))
    match expression:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            sides = [left, right]
            of_strides = any(".stride()[" in value or ".storage_offset()" in value for value in values)
            is_equal = len(values) == 2 and all(_value(side) is not None for side in sides)
            return _Condition(values, not of_strides and len(values) > 1, is_equal, of_strides)
        case ast.Compare(left=ast.Constant(value=2), ops=[ast.LtE()], comparators=[right]):
            return _Condition(values, False, False, _value(right) is not None)
    return _Condition(values, False, False, False)


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
