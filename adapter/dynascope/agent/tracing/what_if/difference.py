"""Tell the difference between two outcomes of a trace, in sentences and as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePath

from dynascope.agent.inspection.values.rows import Row
from dynascope.agent.internals.guards.guards import ShapeGuardFact
from dynascope.agent.speculation.trial import Outcome

_LISTED = 12
"""The greatest number of guards, or operations, gone or new that the text lists; the rows have them all."""


class Difference:
    """The difference between the outcomes of a trace without and with a change."""

    def __init__(self, plain: Outcome, changed: Outcome) -> None:
        self._pairs = [
            ("error" if _fails(changed) else "graph break", _end_text(plain), _end_text(changed)),
            ("graphs", _graphs_text(plain), _graphs_text(changed)),
        ]
        self._sets = [
            ("operation", Counter(chain(*plain.graphs)), Counter(chain(*changed.graphs))),
            ("symbol", _symbols(plain), _symbols(changed)),
            ("guard", _guards(plain), _guards(changed)),
        ]
        if plain.error is not None or changed.error is not None:
            self._sets.clear()  # there is nothing to compare

    def text(self) -> str:
        """Return one sentence for each thing that differs, or that nothing does."""
        return "\n".join(self._sentences()) or "Nothing changes: the same graphs, guards and symbols, the same end."

    def rows(self) -> list[Row]:
        """Return a row for each thing that differs."""
        rows = [Row(name, after if before == after else f"{before} → {after}") for name, before, after in self._pairs]
        for name, earlier, later in self._sets:
            rows += [Row(f"{name} gone", text) for text in (earlier - later).elements()]
            rows += [Row(f"{name} new", text) for text in (later - earlier).elements()]
        return rows

    def _sentences(self) -> Iterator[str]:
        for name, before, after in self._pairs:
            if before != after:
                yield f"{name.capitalize()}: {after}; without the change: {before}."
        for name, earlier, later in self._sets:
            gone, new = list((earlier - later).elements()), list((later - earlier).elements())
            if gone or new:
                yield f"{name.capitalize()}s: {later.total()}, without the change {earlier.total()}."
            for sign, texts in (("−", gone), ("+", new)):
                yield from (f"  {sign} {text}" for text in texts[:_LISTED])
                if len(texts) > _LISTED:
                    yield f"  {sign} {len(texts) - _LISTED} more"


def _end_text(outcome: Outcome) -> str:
    if _fails(outcome):
        return f"the compile fails with {outcome.error}"
    if outcome.is_given_up:
        return f"Dynamo gives the frame up, and the whole function runs uncompiled, for: {outcome.error}"
    found = outcome.graph_break
    if found is None:
        return "no graph break"
    rest = ", and the rest of the function runs uncompiled" if found.effect == "rest uncompiled" else ""
    place = _place(found.path, found.line)
    is_here = found.ends_at == (found.path, found.line)
    call = "" if is_here else f", so the graph ends at the call in {_place(*found.ends_at)}"
    return f"{found.title} ({place}){call}{rest}"


def _place(path: str, line: int) -> str:
    return f"{PurePath(path).name}:{line}"


def _fails(outcome: Outcome) -> bool:
    return outcome.error is not None and not outcome.is_given_up


def _graphs_text(outcome: Outcome) -> str:
    if not outcome.graphs:
        return "none"
    sizes = ", ".join(str(len(operations)) for operations in outcome.graphs)
    return f"{len(outcome.graphs)} of {sizes} {'operation' if sizes == '1' else 'operations'}"


def _symbols(outcome: Outcome) -> Counter[str]:
    texts = []
    for symbol in outcome.symbols:
        fixed = f", replaced by {symbol.replacement}" if symbol.replacement is not None else ""
        source = f" ({', '.join(symbol.sources)})" if symbol.sources else ""
        texts.append(f"{symbol.name}{source} in [{symbol.low}, {symbol.high}]{fixed}")
    return Counter(texts)


def _guards(outcome: Outcome) -> Counter[str]:
    on_sources = [f"{guard.kind} {guard.source}".strip() for guard in outcome.guards]
    return Counter(on_sources + [_shape_guard(guard) for guard in outcome.shape_guards])


def _shape_guard(guard: ShapeGuardFact) -> str:
    place = guard.user_place
    return guard.expression if place is None else f"{guard.expression} ({_place(*place)})"
