"""A similarity is computed within a set, and between two sets."""

import torch


@torch.compile(backend="aot_eager")
def similarity(left, right, temperature):
    left = torch.nn.functional.normalize(left, dim=-1)
    right = torch.nn.functional.normalize(right, dim=-1)
    return left @ right.t() / temperature


torch.manual_seed(0)
gallery, queries = torch.randn(4, 3), torch.randn(4, 3)
for left, right in [(gallery, gallery), (queries, gallery), (queries, queries)]:
    print(similarity(left, right, 0.5).sum().item())

# function: similarity
# compiles: 2
# over: yes
# next: similarity(torch.randn(4, 3), torch.randn(4, 3), 0.5)
# remedy: 16 -> print(similarity(left, right.clone(), 0.5).sum().item())   -> compiles 1
# remedy: 6 -> @torch.compile(backend="aot_eager", dynamic=True)   -> compiles 2
