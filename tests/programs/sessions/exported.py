"""Compiles that no compiled function begins: a strict export, and `aot_compile`."""

import sys

import torch
import torch._dynamo


class Doubled(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        return y * 2  #: traced


def exports():
    whole = torch.export.export(Doubled(), (torch.ones(3),), strict=True).module()
    print(type(whole))  #: after_export


def compiles_ahead():
    torch._dynamo.config.enable_aot_compile = True  # off before torch 2.12
    whole = torch.compile(Doubled(), fullgraph=True, backend="eager").forward.aot_compile(((torch.ones(3),), {}))
    print(type(whole))  #: after_aot_compile


if __name__ == "__main__":
    how = {"export": exports, "aot_compile": compiles_ahead}[sys.argv[1]]
    how()
    print("done")
