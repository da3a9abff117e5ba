"""A breakpoint written into the code: where Dynamo traces it, and where it runs."""

import dynascope
import torch


@torch.compile(backend="eager", fullgraph=True)
def compiled(x):
    y = x + 1
    dynascope.breakpoint()  #: traced
    return y * 2


def main():
    for _ in range(2):
        dynascope.breakpoint()  #: runs
        done = "the end"  #: after
    print(compiled(torch.ones(2)).sum().item(), done)


main()
