"""A simulator updates its state by the type of the event."""

from dataclasses import dataclass

import torch


@dataclass
class Push:
    force: float


@dataclass
class Drag:
    factor: float


@dataclass
class Reset:
    pass


@torch.compile(backend="eager")
def advance(position, velocity, event):
    match event:
        case Push(force):
            velocity = velocity + force
        case Drag(factor):
            velocity = velocity * factor
        case Reset():
            velocity = torch.zeros_like(velocity)
    return position + 0.1 * velocity, velocity


torch.manual_seed(0)
position, velocity = torch.zeros(3), torch.randn(3)
for event in (Push(1.0), Drag(0.9), Push(0.5), Reset(), Drag(0.8), Push(0.25)):
    position, velocity = advance(position, velocity, event)
print(position.sum().item(), velocity.sum().item())

# function: advance
# compiles: 5
# over: yes
# next: advance(position, velocity, Drag(0.33))
# remedy: 23 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 3
# remedy: +23 -> torch._dynamo.config.recompile_limit = 64   -> compiles 5
# remedy: +23 -> torch._dynamo.config.specialize_float = True   -> compiles 6
