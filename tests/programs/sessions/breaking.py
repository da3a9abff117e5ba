"""A compiled function that breaks its graph in a function that it inlines, and is compiled again for another rank."""

import torch


def inner(x):
    z = x * 2
    torch._dynamo.graph_break()  #: break
    return z + 1


def outer(x):
    y = inner(x + 1)  #: call
    return y * 2


compiled = torch.compile(outer, backend="eager")


def never_compiled(x):
    return x


def failing(graph, inputs):
    raise ValueError("no such backend today")


if __name__ == "__main__":
    compiled(torch.ones(3))  #: first
    compiled(torch.ones(2, 3))  #: again
    torch.compile(never_compiled, backend="eager")(torch.ones(3))
    try:
        torch.compile(lambda x: x + 1, backend=failing)(torch.ones(3))
    except torch._dynamo.exc.BackendCompilerFailed:
        print("failed")
    try:
        raise KeyError("handled")
    except KeyError:
        print("the end")
