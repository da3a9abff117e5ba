"""Functions in the bodies of operators and transforms that Dynamo captures all or nothing."""

import torch
from torch.utils.checkpoint import checkpoint


def branch(t):
    return t * 2  #: branch


def other(t):
    return t + 1


def block(t):
    return t.sin()  #: block


def sample(t):
    return t * 3  #: sample


def loss(t):
    return t.sum()  #: loss


def root(x):
    x = torch.cond(x.sum() > 0, branch, other, (x,))
    x = checkpoint(block, x, use_reentrant=False)
    x = torch.vmap(sample)(x)
    return torch.func.grad(loss)(x)


def main():
    compiled = torch.compile(root, backend="eager")
    for _ in range(2):
        print(compiled(torch.ones(3)).tolist())


if __name__ == "__main__":
    main()
