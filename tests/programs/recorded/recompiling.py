"""Functions that are compiled twice, each for a reason of its own; `# first` marks the line that first differs."""

import torch

FLAG = False
TURNS = 2
HOOKS = {"sized": len}


def size(x):  # size
    y = x * 2
    return y + 1


def integer(x, n):  # integer
    return x * n


def shape_branch(x):
    y = x * 2
    if y.shape[0] > 8:  # shape_branch
        return y + 1
    return y - 1


def flag(x):
    y = x * 2
    if FLAG:  # flag
        y = y + 1
    return y


def length(x, parts):  # length
    for part in parts:
        x = x + part
    return x


def kind(x):  # kind
    return x + 1


def breaking(x):
    y = x * 2
    HOOKS["sized"]("ab")  # breaking
    return y + 1


def optional(x, mask):  # optional
    return x + 1 if mask is None else x * mask


def keys(table):  # keys
    return sum(table.values())


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2

    def forward(self, x):
        y = x + 1
        return y * self.scale  # attribute


def gradients(x):
    y = x * 2
    return y + 1


def turns(x):
    for _ in range(TURNS):  # turns
        x = x + 1
    return x


def ternary(x):
    y = x * 2
    z = y + 1 if x.shape[0] > 8 else y - 1  # ternary
    return z.relu()


def layout(x):
    return x.relu()  # layout


def helper(x, up):
    if up:  # inlined
        return x + 1
    return x - 1


def inlined(x, options):
    return helper(x * 2, options.get("up", False))  # options


def restarted(x):
    y = x * 2
    print("a break")  # restarted
    return y + 1


def twice(function, first, second, between=lambda: None, **options):
    compiled = torch.compile(function, backend="eager", **options)
    compiled(*first)
    between()
    compiled(*second)


if __name__ == "__main__":
    ones = torch.ones
    twice(size, [ones(4, 2)], [ones(5, 2)])
    twice(integer, [ones(4), 2], [ones(4), 3])
    twice(shape_branch, [ones(4)], [ones(20)], dynamic=True)
    twice(flag, [ones(4)], [ones(4)], lambda: globals().update(FLAG=True))
    twice(length, [ones(4), [ones(4)] * 2], [ones(4), [ones(4)] * 3])
    twice(kind, [ones(4)], [ones(4, dtype=torch.float64)])
    twice(breaking, [ones(4)], [ones(4)], lambda: HOOKS.update(sized=print))
    twice(optional, [ones(4), None], [ones(4), ones(4)])
    twice(keys, [{"a": ones(4)}], [{"a": ones(4), "b": ones(4)}])
    scaled = Scaled()
    twice(scaled, [ones(4)], [ones(4)], lambda: setattr(scaled, "scale", 3))
    twice(gradients, [ones(4)], [ones(4)], lambda: torch.set_grad_enabled(False))
    torch.set_grad_enabled(True)
    twice(turns, [ones(4)], [ones(4)], lambda: globals().update(TURNS=3))
    twice(ternary, [ones(4)], [ones(20)], dynamic=True)
    twice(layout, [ones(4, 4)], [ones(4, 4).t()])
    twice(inlined, [ones(4), {"up": False}], [ones(4), {"up": True}])
    twice(restarted, [ones(4)], [ones(4)])
