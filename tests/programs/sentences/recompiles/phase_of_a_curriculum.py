"""An enum says which phase of a curriculum the trainer is in."""

import enum

import torch


class Phase(enum.Enum):
    WARMUP = 0.1
    MAIN = 1.0
    COOLDOWN = 0.5
    FROZEN = 0.0


@torch.compile(backend="aot_eager")
def regularized(loss, weights, phase):
    return loss + phase.value * weights.square().sum()


torch.manual_seed(0)
loss, weights = torch.rand(()), torch.randn(5)
for phase in (Phase.WARMUP, Phase.MAIN, Phase.MAIN, Phase.COOLDOWN):
    print(phase.name, regularized(loss, weights, phase).item())

# function: regularized
# compiles: 3
# over: no
# next: regularized(loss, weights, Phase.FROZEN)
# remedy: 23 -> print(phase.name, regularized(loss, weights, torch.tensor(phase.value)).item()) && 17 -> return loss + phase * weights.square().sum()   -> compiles 1
# remedy: 23 -> print(phase.name, regularized(loss, weights, phase.value).item()) && 17 -> return loss + phase * weights.square().sum()   -> compiles 2
# remedy: 15 -> @torch.compile(backend="aot_eager", dynamic=True)   -> compiles 3
