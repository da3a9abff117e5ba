"""Fine-tuning: the backbone is frozen at first, then unfrozen layer by layer."""

import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])
head = nn.Linear(8, 2)
for p in backbone.parameters():
    p.requires_grad_(False)


@torch.compile(backend="aot_eager")
def forward(x):
    for layer in backbone:
        x = torch.relu(layer(x))
    return head(x)


def epoch(n):
    x = torch.randn(n, 8)
    loss = forward(x).pow(2).mean()
    loss.backward()
    return round(loss.item(), 4)


print("frozen", epoch(16))
for layer in reversed(backbone):
    for p in layer.parameters():
        p.requires_grad_(True)
    print("unfrozen one more", epoch(16))
print("tail", epoch(10))

# function: forward
# compiles: 4
# over: yes
# next: epoch(12)
# remedy: 22 -> torch._dynamo.maybe_mark_dynamic(x, 0); loss = forward(x).pow(2).mean()   -> compiles 3
# remedy: 13 -> @torch.compile(backend="aot_eager", dynamic=True)   -> compiles 3
