"""Sentences of a batch are a nested tensor; batches have other numbers of words."""

import torch


@torch.compile(backend="aot_eager")
def embed(words, weight, scale):
    return torch.tanh(words @ weight) * scale


torch.manual_seed(0)
weight = torch.randn(3, 2)
for lengths in ([2, 4], [3, 1, 5], [6, 2], [2, 2, 3, 4]):
    words = torch.nested.nested_tensor([torch.randn(n, 3) for n in lengths], layout=torch.jagged)
    print(lengths, embed(words, weight, 0.5).values().sum().item())

# function: embed
# compiles: 3
# over: yes
# next: embed(torch.nested.nested_tensor([torch.randn(n, 3) for n in (5, 7, 1)], layout=torch.jagged), weight, 0.5)
# remedy: 15 -> print(lengths, embed(words.values(), weight, 0.5).sum().item())   -> compiles 2
# remedy: 6 -> @torch.compile(backend="aot_eager", dynamic=True)   -> compiles 3
# remedy: +6 -> torch._dynamo.config.recompile_limit = 64   -> compiles 3
