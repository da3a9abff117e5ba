"""Find what a compile has added to its graph, its guards and its symbols."""

from __future__ import annotations

from itertools import takewhile
from typing import Any, NamedTuple

import torch

from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import hints
from dynascope.agent.internals.symbolic_shapes.shapes import range_text, relation_text


class SymbolDecision(NamedTuple):
    """A decision on a symbol: it is created, guarded, narrowed or replaced."""

    symbol: str
    sentence: str
    creates: bool = False
    """Whether it tells of a symbol that is new."""
    replaces: bool = False
    """Whether another expression stands for the symbol from now on."""
    fixes: tuple[str, ...] = ()
    """The sizes that are one number from now on, as torch writes them."""


class Growth:
    """Find what an attempt has added since each method was last called; fast where that is nothing."""

    def __init__(self, output: Any) -> None:
        self._output = output
        self._guards_context = output.tracing_context.guards_context
        self._shapes = vars(output.shape_env)
        self._guards: dict[int, Any] = {}
        """The guards that there were, by identity."""
        self._latest_guard: Any = None
        self._last_nodes: dict[int, tuple[Any, Any, int]] = {}
        """The graph, its latest node and how many there were, by the graph's identity: it may be a subgraph."""
        self._known_modules = len(output.tracing_context.module_context.nn_modules)
        self._global_state = _global_state()
        self._inputs: dict[Any, None] = {}
        """The inputs of the graph, in the order in which they appeared."""
        self._shape_version: Any = None
        self._shape_guards = 0
        self._symbols: dict[Any, tuple[Any, Any]] = {}
        """The replacement and the range of each symbol."""

    def signs(self) -> tuple[int, ...]:
        """Return numbers that change when anything is added; the first is how many guards there are.

        Reads `TracingContext.guards_context`, `OutputGraph.tracers` (2.0) and `fx.Graph._len` (1.8), the shortest ways:
        it is called twice a line.
        """
        shapes = self._shapes
        return (
            len(self._guards_context.dynamo_guards.inner._dict),
            self._output.tracers[-1].graph._len,
            shapes.get("_version_counter", 0),
            len(shapes["guards"]),
        )

    def guards(self) -> list[tuple[str, str]]:
        """Return (source, type) of each new guard.

        Reads `GuardsContext.dynamo_guards` (2.0) and `GuardsSet.inner`, an `OrderedSet`.
        """
        now = self._guards_context.dynamo_guards.inner._dict
        latest = next(reversed(now), None)
        before, known = self._latest_guard, self._guards
        if latest is before and len(now) == len(known):
            return []
        new = []
        for guard in reversed(now):
            if guard is before:
                break
            new.append(guard)
        new.reverse()
        if len(now) != len(known) + len(new):  # Dynamo has taken some back
            new = [guard for guard in now if id(guard) not in known]
            known = {id(guard): guard for guard in now}
        for guard in new:
            known[id(guard)] = guard
        self._latest_guard, self._guards = latest, known
        return [(str(guard.name), str(guard.create_fn_name())) for guard in new]

    def nodes(self) -> list[Any]:
        """Return the new nodes.

        Reads `OutputGraph.tracers` (2.0), `Graph._root`, `Graph._len` and `Node._prev` (1.8).
        """
        graph = self._output.tracers[-1].graph
        latest, count = graph._root._prev, graph._len
        _, before, known = self._last_nodes.get(id(graph), (None, graph._root, 0))
        if latest is before and count == known:
            return []
        self._last_nodes[id(graph)] = graph, latest, count
        new = []
        while latest is not before and latest is not graph._root:
            new.append(latest)
            latest = latest._prev
        new.reverse()
        if count > known + len(new):  # Dynamo inserts an input after the other inputs when it first reads it
            new = [*self._new_inputs(graph, count - known - len(new)), *new]
        self._inputs.update(dict.fromkeys(node for node in new if node.op == "placeholder"))
        return new

    def _new_inputs(self, graph: Any, count: int) -> list[Any]:
        latest = next(reversed(self._inputs), graph._root)
        after: list[Any] = []
        while latest._next.op == "placeholder" and len(after) < count:
            latest = latest._next
            after.append(latest)
        if len(after) == count and not self._inputs.keys() & after:
            return after
        inputs = takewhile(lambda node: node.op == "placeholder", graph.nodes)
        return [node for node in inputs if node not in self._inputs]

    def context(self) -> list[tuple[str, str]]:
        """Return ("module", name) of new modules, and ("state", text) of global state's changes.

        Reads `TracingContext.module_context` (2.0); what `OutputGraph.save_global_state` (2.1) saves is read itself.
        """
        new: list[tuple[str, str]] = []
        modules = self._output.tracing_context.module_context.nn_modules
        if len(modules) != self._known_modules:
            new = [("module", name) for name in list(modules)[self._known_modules :]]
            self._known_modules = len(modules)
        before, now = self._global_state, _global_state()
        if now != before:
            self._global_state = now
            new += [
                ("state", f"{name}: {'on' if is_on else 'off'}")
                for name, was_on, is_on in zip(_GLOBAL_STATE, before, now, strict=True)
                if is_on is not was_on
            ]
        return new

    def symbols(self) -> list[SymbolDecision]:
        """Return the new decisions on symbols.

        `ShapeEnv._version_counter` (2.1) changes with its replacements and ranges.
        """
        known = self._shapes
        ranges, guards = known.get("var_to_range") or {}, known["guards"]
        version = known.get("_version_counter"), len(ranges)
        if version == self._shape_version and len(guards) == self._shape_guards:
            return []
        new = [
            SymbolDecision(symbol, guarded_by(guard))
            for guard in guards[self._shape_guards :]
            for symbol in symbols_of_guard(guard)
        ]
        self._shape_version, self._shape_guards = version, len(guards)
        made, decided = self._decided(known, ranges, {decision.symbol for decision in new})
        return [*made, *new, *decided]

    def _decided(
        self, known: dict[str, Any], ranges: dict[Any, Any], guarded: set[str]
    ) -> tuple[list[SymbolDecision], list[SymbolDecision]]:
        """Return how new symbols were made, and what was decided on symbols.

        The range of one that is new is told last: the guards on it may have narrowed it.
        """
        replacements, numbers = known.get("replacements") or {}, hints(self._output.shape_env)
        made, decided = [], []
        for symbol, span in ranges.items():
            before, now = self._symbols.get(symbol), (replacements.get(symbol), span)
            if before == now:
                continue
            self._symbols[symbol] = now
            name, instead = str(symbol), now[0] if before is None or before[0] != now[0] else None
            origins = map(source_text, (known.get("var_to_sources") or {}).get(symbol, ()))
            sources = tuple(origin for origin in origins if origin)
            if before is None:
                origin = next(iter(sources), "a result")
                span_then = "" if instead is not None or name in guarded else f" in {range_text(span)}"
                made.append(
                    SymbolDecision(
                        name, f"made for {origin}: {numbers.get(symbol, 'unknown')}{span_then}", creates=True
                    )
                )
            if instead is not None:
                verb = "specialised to" if instead.is_number else "replaced by"
                fixes = sources if instead.is_number else ()
                decided.append(SymbolDecision(name, f"{verb} {instead}", replaces=True, fixes=fixes))
            elif before is not None:
                decided.append(SymbolDecision(name, f"refined to {range_text(span)}"))
            elif name in guarded:
                decided.append(SymbolDecision(name, f"in {range_text(span)}", creates=True))
        return made, decided


_GLOBAL_STATE = ("grad mode", "inference mode", "autocast on cpu", "autocast on cuda")


def _global_state() -> tuple[bool, ...]:
    """Return whether each of `_GLOBAL_STATE` is on: Dynamo switches it while it traces."""
    of_device = torch.is_autocast_enabled
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled(), of_device("cpu"), of_device("cuda")


def guarded_by(guard: Any) -> str:
    """Return the sentence about a guard on symbols (`torch._guards.ShapeGuard.expr`, 2.0)."""
    return f"guarded by {relation_text(guard.expr)}"


def symbols_of_guard(guard: Any) -> list[str]:
    """Return the symbols in the guard's expression."""
    return sorted(map(str, guard.expr.free_symbols))
