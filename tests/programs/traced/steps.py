"""Labels for steps: an inlined call, a generator, a graph break in the root and one in a callee."""

import torch
from torch._dynamo.comptime import comptime


def helper(q):
    s = q * 2  #: helper_first
    return s.sin()  #: helper_last


def pieces(t):
    for j in range(2):  #: pieces_for
        yield t[j]  #: pieces_yield


def breaks(a):
    b = a + 1  #: breaks_first
    print(end="")  #: breaks_print
    return b * 2  #: breaks_last


def fn(x):
    a = x.cos()  #: first
    b = helper(a)  #: call
    c = b + 1  #: after_call
    for part in pieces(c):  #: loop
        c = c + part  #: loop_body
    torch._dynamo.graph_break()  #: graph_break
    d = c + 1  #: after_break
    e = breaks(d)  #: breaking_call
    return e.sum()  #: last


def stopping(x):
    y = x + 1
    comptime.breakpoint()  #: comptime
    return y * 2  #: after_comptime


def other(x):
    return x + 5  #: other


def main():
    torch.compile(fn, backend="eager")(torch.ones(2, 3))


def main_of_two():
    torch.compile(fn, backend="eager")(torch.ones(2, 3))
    torch.compile(other, backend="eager")(torch.ones(2, 3))


def main_stopping():
    torch.compile(stopping, backend="eager")(torch.ones(2))


def printing(x):
    y = x + 1  #: prints_first
    comptime.print(y)  #: prints
    return y * 2  #: prints_last


def main_printing():
    torch.compile(printing, backend="eager")(torch.ones(2))


class Lazy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.LazyLinear(2)

    def forward(self, x):
        y = self.layer(x)  #: lazy_call
        return y.relu()  #: lazy_last


def main_lazy():
    torch.compile(Lazy(), backend="eager")(torch.ones(2, 3))
