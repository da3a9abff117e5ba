"""A loss of a batch, a dict whose two tensors become longer together."""

import torch


@torch.compile
def loss(batch, weight):
    return (batch["pixels"] * weight).sum() + batch["labels"].float().mean()


torch.manual_seed(0)
for count in (4, 6, 7, 9):
    batch = {"pixels": torch.randn(count, 8), "labels": torch.arange(count + 1), "names": ["a"] * 2}
    print(loss(batch, torch.ones(8)).item())

# function: loss
# compiles: 2
# over: yes
# next: loss({"pixels": torch.randn(12, 8), "labels": torch.arange(13), "names": ["a"] * 2}, torch.ones(8))
# remedy: +14 -> torch._dynamo.maybe_mark_dynamic(batch["pixels"], 0), torch._dynamo.maybe_mark_dynamic(batch["labels"], 0)   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: +14 -> torch._dynamo.maybe_mark_dynamic(batch["pixels"], 0)   -> compiles 2
