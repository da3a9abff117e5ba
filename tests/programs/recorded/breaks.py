"""Breaks of every outcome, at lines that say so; prints the messages Dynamo counted as one JSON line."""

import json

import torch
from torch._dynamo.utils import counters


def helper(x):
    y = x + 1
    print("broken in helper")  # break: resumed, twice
    return y * 2


def calls_helper(x):
    a = x.sin()
    b = helper(a)
    return b + a


def in_a_loop(x):
    for _ in range(3):
        x = x + 1
        print("broken in a loop")  # break: function uncompiled
    return x


def branches(x):
    if x.sum() > 0:  # break: resumed
        return x + 1
    return x - 1


def in_a_try(x):
    y = x + 1
    try:
        print("broken in a try")  # break: function uncompiled
    except ValueError:
        pass
    return y


def whole(x):
    print("broken, with fullgraph")  # break: raised
    return x + 1


def printing(x):
    print("broken where no break is allowed")  # break: raised
    return x + 1


def raising_in_a_part(x):
    with torch._dynamo.error_on_graph_break(True):
        return printing(x)


if __name__ == "__main__":
    for function in (calls_helper, in_a_loop, branches, in_a_try):
        torch.compile(function, backend="eager")(torch.ones(3))
    for function, options in ((whole, {"fullgraph": True}), (raising_in_a_part, {})):
        try:
            torch.compile(function, backend="eager", **options)(torch.ones(3))
        except torch._dynamo.exc.TorchDynamoException:
            pass
    print("COUNTED " + json.dumps(counters["graph_break"]))
