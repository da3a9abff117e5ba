import torch
from torch import nn

activations = {}


def save(name):
    def hook(module, inputs, output):
        activations[name] = output.detach()

    return hook


def check(module, inputs, output):
    if torch.isnan(output).any():  # breaks
        raise RuntimeError("nan")


model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
model[0].register_forward_hook(save("first"))
model[2].register_forward_hook(check)
compiled = torch.compile(model, backend="eager")
compiled(torch.randn(2, 4))
