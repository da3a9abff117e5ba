"""What costs of guards are worth: a subtree's cost as a ratio to what a lookup without it saves, and how long it takes.

Bias: in one process, nothing else at work; the shortest of many repeated lookups counts, so that all guards are in the
processor's caches. Ratios are of the subtrees with at least a tenth of the lookup, the median of five measurements.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator
from typing import Any

import torch
from dynascope.agent.documents import guard_trees
from dynascope.agent.internals.guards import costs
from dynascope.agent.internals.guards.tree import cache_entries, evaluated

LAYERS = (2, 12, 50)
MANY = 380
"""Layers with about 5,000 guards."""


class Model(torch.nn.Module):
    """A chain of layers, and arguments of several kinds."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(layers))
        self.settings = {"scale": 1, "sizes": [1, 2]}

    def forward(self, x: torch.Tensor, numbers: list[int]) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x * self.settings["scale"] + sum(numbers)


def measure() -> Iterator[str]:
    """Yield a line for each subtree, then one for the time to open many guards with their costs."""
    for layers in LAYERS:
        entry, values = _compiled(layers)
        yield f"guards of {layers} layers:"
        yield from _ratios(entry, values)
    entry, values = _compiled(MANY)
    gc.disable()  # as at a stop
    begun = time.perf_counter()
    text = guard_trees.with_costs(Model.forward.__code__, entry, values)
    took = (time.perf_counter() - begun) * 1e3
    gc.enable()
    yield f"{text.partition(',')[0]} with costs: opened in {took:.0f} ms, {len(text) / 1e6:.1f} MB of text"


def _compiled(layers: int) -> tuple[Any, dict[str, Any]]:
    torch._dynamo.reset()
    values = {"self": Model(layers), "x": torch.ones(3, 2), "numbers": list(range(5 * layers))}
    torch.compile(values["self"], backend="eager")(values["x"], values["numbers"])
    gc.collect()
    return cache_entries(Model.forward.__code__)[0], values


def _ratios(entry: Any, values: dict[str, Any]) -> Iterator[str]:
    everything = evaluated(entry.guards.root)
    measured = [each for _ in range(5) if (each := costs.measure(entry.guards, values)) is not None]
    lookup = statistics.median(each.lookup for each in measured)
    for manager in everything[1:]:
        below = evaluated(manager)
        cost = statistics.median(sum(each.own.get(one, 0.0) for one in below) for each in measured)
        if cost < lookup / 10:
            continue
        saved = statistics.median(_saved(entry, values, set(everything) - set(below)) for _ in range(5))
        yield f"  {cost / saved:.2f}  {cost:,.0f} ns of {lookup:,.0f}  {manager.get_source()[-60:]}"


def _saved(entry: Any, values: dict[str, Any], kept: set[Any]) -> float:
    whole = entry.guards.root.clone_manager(lambda manager: True)
    part = entry.guards.root.clone_manager(kept.__contains__)
    return costs.shortest(whole, values, 300) - costs.shortest(part, values, 300)
