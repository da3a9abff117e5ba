"""Functions whose breakpoints have modes: compiled as a whole, inlined, with fullgraph, a generator, behind a break."""

import sys

import torch  #: import


def inner(t):
    u = t * 2  #: inner
    return u + 1


def pieces(t):
    for i in range(2):
        yield t + i  #: yield


def outer(x):
    y = inner(x)  #: call
    for piece in pieces(y):
        y = y + piece
    torch._dynamo.graph_break()  #: break
    z = y - 1  #: resumed
    return z.sum()


def whole(x):
    return inner(x) * 3  #: whole


def report(tag):
    print(tag, torch._dynamo.utils.counters["stats"]["unique_graphs"])  #: report


def main():
    compiled = torch.compile(outer, backend="eager")
    full = torch.compile(whole, backend="eager", fullgraph=True)
    for turn in range(3):
        compiled(torch.ones(2, 3))  #: turn
        full(torch.ones(2, 3))
        report(turn)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
