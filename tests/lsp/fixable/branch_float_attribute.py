import torch


class Clip:
    def __init__(self, limit):
        self.limit = limit

    @torch.compile(backend="eager")
    def __call__(self, g):
        n = g.norm()
        if n > self.limit:
            g = g * (self.limit / n)
        return g.sum()


for limit in (1.0, 2.0, 3.0, 10.0):
    print(round(Clip(limit)(torch.ones(9)).item(), 4))
