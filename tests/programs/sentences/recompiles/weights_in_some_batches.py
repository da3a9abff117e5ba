"""Batches of several lengths, which are dicts; some have a weight for each row."""

import torch


@torch.compile(backend="eager")
def loss(batch, bias, power):
    out = (batch["values"] + bias).abs().pow(power).sum(-1)
    if "weights" in batch:
        out = out * batch["weights"]
    return out.mean()


torch.manual_seed(0)
for rows, is_weighted in ((4, False), (6, False), (6, True), (8, False)):
    batch = {"values": torch.randn(rows, 3)}
    if is_weighted:
        batch["weights"] = torch.rand(rows)
    print(rows, round(loss(batch, 0.5, 2).item(), 4))

# function: loss
# compiles: 3
# over: no
# next: loss({"values": torch.randn(9, 3), "weights": torch.rand(9)}, 0.5, 2)
# remedy: 6 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 2
# remedy: 19 -> torch._dynamo.maybe_mark_dynamic(batch["values"], 0); print(rows, round(loss(batch, 0.5, 2).item(), 4))   -> compiles 2
