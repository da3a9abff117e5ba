"""A loss reads a global step for its warm-up."""

import torch

WARMUP = 50
global_step = 0


@torch.compile
def weighted_loss(prediction, target):
    weight = min(1.0, (global_step + 1) / WARMUP)
    return weight * (prediction - target).square().mean()


torch.manual_seed(0)
prediction, target = torch.randn(6), torch.randn(6)
for _ in range(5):
    print(global_step, weighted_loss(prediction, target).item())
    global_step += 1

# function: weighted_loss
# compiles: 5
# over: no
# next: exec("global_step = 23", globals()), weighted_loss(prediction, target)
# remedy: 11 -> weight = torch.clamp((step_tensor + 1) / WARMUP, max=1.0) && 19 -> global_step += 1; step_tensor += 1 && +9 -> step_tensor = torch.zeros(())   -> compiles 1
# remedy: 9 -> @torch.compile(dynamic=True)   -> compiles 5
