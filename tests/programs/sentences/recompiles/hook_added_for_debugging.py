"""A forward hook is put on a layer after some calls, to look at its activations."""

import torch
from torch import nn

torch.manual_seed(0)
torch._dynamo.config.skip_nnmodule_hook_guards = False
peak = torch.zeros(())
net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))


@torch.compile(backend="eager")
def predict(x, offset):
    return net(x) + offset


def note(module, args, output):
    peak.copy_(output.detach().abs().amax())


x = torch.randn(2, 3)
for call in range(4):
    if call == 2:
        net[1].register_forward_hook(note)
    print(call, predict(x, 1.0).sum().item(), peak.item())

# function: predict
# compiles: 2
# over: no
# next: net[0].register_forward_hook(note), predict(x, 1.0)
# best: none
