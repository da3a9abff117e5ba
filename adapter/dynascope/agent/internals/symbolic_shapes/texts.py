"""Write the ranges of symbols and the relations between them."""

from __future__ import annotations

from typing import Any

from dynascope.agent.internals.symbolic_shapes.fake_tensors import expression_of

_UNBOUNDED = ("int_oo", "9223372036854775806", "9223372036854775807", "9223372036854775808")


def range_text(span: Any) -> str:
    """Return a range as `[2, oo]`."""
    return f"[{bound_text(span.lower)}, {bound_text(span.upper)}]"


def bound_text(bound: Any) -> str:
    """Return a bound of a range, `oo` and `-oo` for none."""
    sign, text = ("-", str(bound)[1:]) if str(bound).startswith("-") else ("", str(bound))
    return sign + ("oo" if text in _UNBOUNDED else text)


def relation_text(condition: Any) -> str:
    """Return `s0 == 4` for sympy's `Eq(s0, 4)`."""
    operator: str | None = getattr(condition, "rel_op", None)
    sides: tuple[Any, ...] = getattr(condition, "args", ())
    return f"{sides[0]} {operator} {sides[1]}" if operator and len(sides) == 2 else str(condition)


def symbols_in(value: Any) -> frozenset[str]:
    """Return the names of a SymInt's (…) symbols, also replaced ones (`SymNode._expr`, 2.0)."""
    raw = getattr(value.node, "_expr", None)
    found = set(getattr(raw, "free_symbols", ()))
    reduced = expression_of(value)
    found |= set(getattr(reduced, "free_symbols", ()))
    return frozenset(map(str, found))
