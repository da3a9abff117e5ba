"""A compiled function that inlines another, called from a function of the running program."""

import torch


def helper(q):
    scaled = q * 2  #: helper
    return scaled.sin()


@torch.compile(backend="eager")
def compiled(x, width):
    a = x.cos()  #: first
    b = helper(a)  #: call

    return b + width  #: after


def caller(tag):
    label = "caller " + tag
    out = compiled(torch.ones(2, 3), 4)  #: compile
    total = out.sum()  #: ran
    return label, total


if __name__ == "__main__":
    print(caller("x")[0])  #: start
    print("the end")
