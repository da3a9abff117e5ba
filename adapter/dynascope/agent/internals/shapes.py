"""Symbols of the ShapeEnv: what Dynamo made dynamic, and what it knows of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dynascope.agent.internals.fake_tensors import expression_of, hints, is_symbolic
from dynascope.agent.internals.variables import source_text


@dataclass(slots=True)
class SymbolFact:
    """One symbol; texts are sympy's. `hint` is None for an unbacked (data-dependent) one."""

    name: str
    hint: str | None
    low: str
    high: str
    sources: list[str]
    replacement: str | None
    constraints: list[str] = field(default_factory=list)


def symbols_so_far(output: Any) -> list[SymbolFact]:
    """Every symbol of `OutputGraph.shape_env` (2.0): its hint, `var_to_range`, `var_to_sources`, `replacements`."""
    environment = output.shape_env
    known = vars(environment)
    values, ranges = hints(environment), known.get("var_to_range") or {}
    sources, replacements = known.get("var_to_sources") or {}, known.get("replacements") or {}
    constraints = _constraints(output)
    found = []
    for symbol in dict.fromkeys([*values, *ranges]):
        bounds = ranges.get(symbol)
        found.append(
            SymbolFact(
                name=str(symbol),
                hint=str(values[symbol]) if symbol in values else None,
                low=str(bounds.lower) if bounds is not None else "?",
                high=_high_text(bounds.upper) if bounds is not None else "?",
                sources=[text for text in map(source_text, sources.get(symbol, ())) if text],
                replacement=str(replacements[symbol]) if symbol in replacements else None,
                constraints=constraints.get(str(symbol), []) + _deferred(known, symbol),
            )
        )
    return found


def _high_text(bound: Any) -> str:
    text = str(bound)
    return "oo" if text in ("int_oo", "9223372036854775806", "9223372036854775807") else text


def _constraints(output: Any) -> dict[str, list[str]]:
    """What the user asked of a dimension (`mark_dynamic`, `Dim`): `TrackedFake.symbolic_context` (2.2)."""
    found: dict[str, list[str]] = {}
    for tracked in list(getattr(output, "tracked_fakes", ())):
        context, fake = tracked.symbolic_context, tracked.fake
        wanted = getattr(context, "constraint_sizes", None)
        if not wanted or not hasattr(fake, "shape"):
            continue
        for i, (size, constraint) in enumerate(zip(fake.shape, wanted, strict=False)):
            if constraint is None or not is_symbolic(size):
                continue
            bounds = getattr(constraint, "vr", None)
            limits = f" in [{bounds.lower}, {_high_text(bounds.upper)}]" if bounds is not None else ""
            text = f"{type(constraint).__name__} on {source_text(tracked.source)}.size()[{i}]{limits}"
            found.setdefault(str(expression_of(size)), []).append(text)
    return found


def _deferred(known: dict[str, Any], symbol: Any) -> list[str]:
    """Assertions on an unbacked symbol that the compiled code checks (`ShapeEnv.deferred_runtime_asserts`, 2.1)."""
    asserts = (known.get("deferred_runtime_asserts") or {}).get(symbol, ())
    return [f"runtime assert {check.expr}" for check in asserts]
