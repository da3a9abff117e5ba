"""A compiled trainer calls a compiled helper, which evaluation calls by itself as well."""

import torch


@torch.compile
def similarity(left, right):
    return torch.cosine_similarity(left[:, None], right[None], dim=-1)


@torch.compile
def contrastive(left, right, temperature):
    logits = similarity(left, right) / temperature
    return torch.nn.functional.cross_entropy(logits, torch.arange(left.shape[0]))


torch.manual_seed(0)
for size in (3, 5, 4):
    left, right = torch.randn(size, 4), torch.randn(size, 4)
    print(size, contrastive(left, right, 0.5).item())
    print(size, similarity(left, right[:2]).sum().item())

# function: similarity
# compiles: 2
# over: yes
# next: similarity(torch.randn(6, 4), torch.randn(6, 4)[:2])
# remedy: +21 -> torch._dynamo.maybe_mark_dynamic(left, 0)   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: 11 -> @torch.compile(dynamic=True)   -> compiles 2
