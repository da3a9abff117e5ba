"""A context of one's own, made outside of the compiled function, is entered in it."""

import torch


class Entered:
    def __init__(self):
        self.times = 0

    def __enter__(self):
        self.times += 1
        return self

    def __exit__(self, *error):
        return None


entered = Entered()


@torch.compile(backend="aot_eager")
def step(x, w):
    y = x @ w
    with entered:
        y = y / y.norm()
    return y.sum()


torch.manual_seed(0)
for _ in range(3):
    print(round(step(torch.randn(4, 4), torch.ones(4, 2)).item(), 4))
# breaks: 24
# compiles: 0
# remedy: 24 -> with Entered(): -> breaks none
