"""Strict exports and an `aot_compile`, which Dynamo traces without a call that it compiles."""

import contextlib

import torch

CALLS = {"forward": 0}


class Scaled(torch.nn.Module):
    def forward(self, x):
        CALLS["forward"] += 1
        return x.sin() * CALLS["forward"]


class Branching(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:  #: branch
            return x + 1
        return x - 1


def added(x):
    return x + 1


if __name__ == "__main__":
    x = torch.ones(3)
    torch.export.export(Scaled(), (x,), strict=True)  #: exported
    with contextlib.suppress(torch._dynamo.exc.Unsupported, torch._dynamo.exc.UserError):
        torch.export.export(Branching(), (x,), strict=True)  #: refused
    with torch._dynamo.config.patch(enable_aot_compile=True):
        torch.compile(added, backend="eager", fullgraph=True).aot_compile(((x,), {}))
