"""Names are encoded from their characters inside of the compiled function."""

import torch


def encode(name):
    return torch.tensor([ord(letter) % 32 for letter in name])


@torch.compile
def embed_name(name, table, scale):
    codes = encode(name)
    return table[codes].mean(dim=0) * scale


torch.manual_seed(0)
table = torch.randn(32, 3)
for name in ("ada", "grace", "alan", "edsger"):
    print(name, embed_name(name, table, 0.5).sum().item())

# function: embed_name
# compiles: 4
# over: no
# next: embed_name("barbara", table, 0.5)
# remedy: 12 -> codes = name && 19 -> print(name, embed_name(encode(name), table, 0.5).sum().item())   -> compiles 2
# remedy: 10 -> @torch.compile(dynamic=True)   -> compiles 4
# remedy: +10 -> torch._dynamo.config.recompile_limit = 64   -> compiles 4
