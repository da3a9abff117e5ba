"""Read the symbols of the ShapeEnv: the values that Dynamo made dynamic, and the facts about each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import expression_of, hints, is_symbolic
from dynascope.facts.recompiles.guarded_value import readable


@dataclass(slots=True)
class SymbolFact:
    """One symbol; texts are written by sympy. `hint` is None for an unbacked (data-dependent) one."""

    name: str
    hint: str | None
    low: str
    high: str
    sources: list[str]
    replacement: str | None
    constraints: list[str] = field(default_factory=list)
    symbol: Any = None
    """The sympy symbol, for `guards.shape_guards_on`."""

    def __str__(self) -> str:
        fixed = f", replaced by {self.replacement}" if self.replacement is not None else ""
        source = f" ({', '.join(map(readable, self.sources))})" if self.sources else ""
        return f"{self.name}{source} in [{self.low}, {self.high}]{fixed}"


class Symbols:
    """The symbols of `OutputGraph.shape_env` (2.0) now: its `var_to_range`, `var_to_sources`, `replacements`."""

    def __init__(self, output: Any) -> None:
        self._output = output
        self._known = vars(output.shape_env)
        self._values = hints(output.shape_env)
        self._symbols = list(dict.fromkeys([*self._values, *(self._known.get("var_to_range") or {})]))

    def __len__(self) -> int:
        return len(self._symbols)

    def facts(self, start: int = 0, stop: int | None = None) -> Iterator[SymbolFact]:
        """Yield the facts of the symbols from `start` up to `stop`."""
        constraints, inputs = _constraints(self._output), _unbacked_inputs(self._output)
        for symbol in self._symbols[start:stop]:
            yield self._fact(symbol, constraints, inputs)

    def _fact(self, symbol: Any, constraints: dict[str, list[str]], inputs: dict[Any, list[str]]) -> SymbolFact:
        known, values = self._known, self._values
        bounds = (known.get("var_to_range") or {}).get(symbol)
        replacement = (known.get("replacements") or {}).get(symbol)
        sources = (known.get("var_to_sources") or {}).get(symbol, ())
        return SymbolFact(
            name=str(symbol),
            hint=str(values[symbol]) if symbol in values else None,
            low=bound_text(bounds.lower) if bounds is not None else "?",
            high=bound_text(bounds.upper) if bounds is not None else "?",
            sources=[text for text in map(source_text, sources) if text] or inputs.get(symbol, []),
            replacement=str(replacement) if replacement is not None else None,
            constraints=constraints.get(str(symbol), []) + _deferred(known, symbol),
            symbol=symbol,
        )


def symbols_so_far(output: Any) -> list[SymbolFact]:
    """Return every symbol with all its facts."""
    return list(Symbols(output).facts())


def can_be(condition: Any, symbol: Any, value: float) -> bool:
    """Whether a condition (`torch._guards.ShapeGuard.expr`, 2.0) may be true for a value."""
    return str(condition.subs(symbol, value)) != "False"


def _unbacked_inputs(output: Any) -> dict[Any, list[str]]:
    """Return the sizes by symbol that `mark_unbacked` (2.1) was called for.

    Torch keeps no source of these.
    """
    found: dict[Any, list[str]] = {}
    for tracked in list(getattr(output, "tracked_fakes", ())):
        for i, size in enumerate(getattr(tracked.fake, "shape", ())):
            symbol = getattr(size.node, "_expr", None) if is_symbolic(size) else None
            if symbol is not None and symbol.is_Symbol:
                found.setdefault(symbol, []).append(f"{source_text(tracked.source)}.size()[{i}]")
    return found


def _constraints(output: Any) -> dict[str, list[str]]:
    """Return user constraints (`mark_dynamic`, `Dim`): `TrackedFake.symbolic_context` (2.2)."""
    found: dict[str, list[str]] = {}
    for tracked in list(getattr(output, "tracked_fakes", ())):
        context, fake = tracked.symbolic_context, tracked.fake
        wanted = getattr(context, "constraint_sizes", None)
        if not wanted or not hasattr(fake, "shape"):
            continue
        for i, (size, constraint) in enumerate(zip(fake.shape, wanted, strict=False)):
            if constraint is None or not is_symbolic(size):
                continue
            text = f"{_meaning(constraint)} ({type(constraint).__name__} on {source_text(tracked.source)}.size()[{i}])"
            found.setdefault(str(expression_of(size)), []).append(text)
    return found


def _meaning(constraint: Any) -> str:
    """Return a sentence about one constraint of a dimension.

    `symbolic_shapes.RelaxedUnspecConstraint` (2.0) allows no single value, `.StrictMinMaxConstraint` no guard. Their
    `warn_only` selects what a violation causes: a warning, or a ConstraintViolationError.
    """
    bounds = getattr(constraint, "vr", None)
    wanted = "become one value" if bounds is None else f"be narrowed below {range_text(bounds)}"
    if getattr(constraint, "warn_only", False):
        return f"should not {wanted}, else Dynamo warns"
    return f"must not {wanted}, else the compile fails"


def _deferred(known: dict[str, Any], symbol: Any) -> list[str]:
    """Return an unbacked symbol's runtime asserts (`ShapeEnv.deferred_runtime_asserts`, 2.1)."""
    asserts = (known.get("deferred_runtime_asserts") or {}).get(symbol, ())
    return [f"runtime assert {check.expr}" for check in asserts]


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
