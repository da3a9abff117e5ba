"""Arguments that are not tensors but have methods with the same names."""

import torch


class Meter:
    def __init__(self):
        self.values = [1.0]

    def mean(self):
        return sum(self.values) / len(self.values)

    def max(self):
        return max(self.values)

    def item(self):
        return self.values[-1]

    def unique(self):
        return set(self.values)

    def equal(self, other):
        return self.values == other.values


@torch.compile(backend="eager")
def step(x, meter, n):
    if meter.mean() > 10:
        x = x / 2
    if meter.max() > 0:
        x = x + 1
    x = x * meter.item()
    if len(meter.unique()) > 3 or meter.equal(meter):
        x = x - 1
    return x[n > 3]


if __name__ == "__main__":
    step(torch.ones(3), Meter(), 5)
