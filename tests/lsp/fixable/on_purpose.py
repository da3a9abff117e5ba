"""A graph break that is asked for, and one that is alone in its block."""

import torch


@torch.compile
def f(x, flag):
    y = x.sin() + 1
    torch._dynamo.graph_break()
    if flag:
        torch._dynamo.graph_break()
    return y * 2


for flag in (False, True, False):
    print(f(torch.ones(3), flag))
