"""Compiles, forks, and compiles in both processes."""

import os

import torch


def function(x, number):
    return x + number  #: traced


if __name__ == "__main__":
    torch.compile(function, backend="eager")(torch.ones(2), 1)
    child = os.fork()
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager", dynamic=False)
    total = compiled(torch.ones(3), 2 if child else 3).sum().item()
    if not child:
        print("child", total, flush=True)
        os._exit(7)
    print("parent", total, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))  #: ended
