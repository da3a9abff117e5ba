"""The state of a recurrence starts as zeros, and is the network's own output from then on."""

import torch
from torch import nn


class Leaky(nn.Module):
    def __init__(self):
        super().__init__()
        self.decay = nn.Parameter(torch.tensor([0.9, 0.8, 0.7]))

    def forward(self, drive, state):
        return state * self.decay + torch.relu(drive)


torch.manual_seed(0)
leaky = Leaky()
compiled = torch.compile(leaky, backend="aot_eager")
state = torch.zeros(2, 3)
for drive in torch.randn(4, 2, 3):
    state = compiled(drive, state)
loss = state.square().mean()
loss.backward()
print(loss.item(), leaky.decay.grad.tolist())

# function: Leaky.forward
# compiles: 2
# over: yes
# next: compiled(drive, state * 2)
# remedy: 19 -> state = torch.zeros(2, 3, requires_grad=True)   -> compiles 1
# remedy: 18 -> compiled = torch.compile(leaky, backend="aot_eager", dynamic=True)   -> compiles 2
