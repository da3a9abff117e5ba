"""Replicas are compared only where a weight has moved less than a tolerance: `or` leaves the rest out."""

import torch
from job import compiled, end, start, total

rank, world = start()


@compiled
def gap(w):
    return (w - total(w) / world).abs().max()


class Check:
    def __init__(self, weights, tolerance):
        self.weights, self.tolerance = {name: w.clone() for name, w in weights.items()}, tolerance

    def moved(self, name, w):
        return (w - self.weights[name]).abs().max().item()

    def is_bad(self, name, w):
        return self.moved(name, w) > self.tolerance or gap(w) > self.tolerance  # PARTS `self.moved(name, w) > self.tol


weights = {"query": torch.ones(4), "key": torch.ones(4), "value": torch.ones(4)}
check = Check(weights, 0.5)
for step in range(3):
    for w in weights.values():
        w -= 0.1
    if rank == 1 and step == 1:
        weights["key"][2] = 3.0
    bad = [name for name, w in weights.items() if check.is_bad(name, w)]
end(bad)
