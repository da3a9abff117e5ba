"""Functions to try changes in: sizes, numbers, branches, graph breaks, and effects that cannot be undone."""

import torch
from torch._dynamo.comptime import comptime

graphs = []
"""The graphs that the backend was given: the number of operations, and whether a tensor has a symbolic size."""


def backend(graph_module, example_inputs):
    nodes = graph_module.graph.nodes
    inputs = [node.meta["example_value"] for node in nodes if node.op == "placeholder"]
    symbolic = any(type(size) is torch.SymInt for given in inputs for size in getattr(given, "shape", ()))
    graphs.append((sum(node.op.startswith("call_") for node in nodes), symbolic))
    return graph_module.forward


def scaled(q, n):
    s = q * n  #: inlined
    return s.sin()  #: inlined_last


def fn(x, n, flag=False):
    a = x.cos()  #: first
    b = scaled(a, n)  #: call
    if x.shape[0] > 3:  #: branch
        b = b + 1  #: taken
    if flag:  #: flag
        print(end="")
    c = b.sum()  #: after_flag
    return c * n  #: last


def main():
    compiled = torch.compile(fn, backend=backend)
    return [compiled(torch.ones(rows, 3), 7).item() for rows in (4, 5)]


def main_once():
    return torch.compile(fn, backend=backend)(torch.ones(4, 3), 7)


def main_flag():
    return torch.compile(fn, backend=backend)(torch.ones(4, 3), 7, True)


def main_dynamic():
    return torch.compile(fn, backend=backend, dynamic=True)(torch.ones(4, 3), 7)


def read(x):
    y = x * 2  #: read_first
    z = y.sum().item()  #: item
    return x + z  #: after_item


def main_reading():
    return torch.compile(read, backend=backend)(torch.ones(4, 3))


def printing(x):
    y = x + 1  #: prints_first
    comptime.print(y)
    return y * 2


def main_printing():
    torch.compile(printing, backend=backend)(torch.ones(2))


def other(x):
    with torch.no_grad():
        y = x * 2  #: no_grad
    torch._dynamo.graph_break()
    return y + x.shape[0]  #: resumed


def main_other():
    return torch.compile(other, backend=backend)(torch.ones(2, 3, requires_grad=True))


def shared(x, n):
    def inner(y):
        return y * n

    n = n + 1
    return inner(x)  #: shared


def main_shared():
    return torch.compile(shared, backend=backend)(torch.ones(2, 3), 7)


def ending(x, n, breaks=False, breaks_in_with=False):
    a = x.cos()  #: ending_first
    if breaks:  #: ending_branch
        torch._dynamo.graph_break()
    b = a * n  #: no_call
    with torch.no_grad():
        if breaks_in_with:  #: with_branch
            torch._dynamo.graph_break()
        c = b * 2  #: in_with
    return c + b.sin()  #: ending_last


def main_ending():
    return torch.compile(ending, backend=backend)(torch.ones(4, 3), 7).sum().item()


def main_really_broken():
    return torch.compile(ending, backend=backend)(torch.ones(4, 3), 7, True).sum().item()


def main_really_broken_in_with():
    return torch.compile(ending, backend=backend)(torch.ones(4, 3), 7, False, True).sum().item()


def trying(x):
    try:
        a = x + 1  #: in_try
        b = a * 2  #: later_in_try
    except ValueError:
        raise
    return b.sin()


def main_trying():
    return torch.compile(trying, backend=backend)(torch.ones(4, 3))


def viewing(x, rows, flag=True):
    y = x * 2  #: viewing
    if flag and y.sum() > 0:  #: jump
        y = y + 1
    return y.view(rows, -1)


def main_viewing():
    return torch.compile(viewing, backend=backend)(torch.ones(4, 3), 4)


def main_viewing_straight():
    return torch.compile(viewing, backend=backend)(torch.ones(4, 3), 4, False)


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        return x * k  #: in_forward

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2, None


def applied(x, n):
    k = n + 1
    return Scaled.apply(x, k) + 1


def main_applied():
    return torch.compile(applied, backend=backend)(torch.ones(3, requires_grad=True), 3)
