"""The step of an optimizer is compiled; a scheduler lowers its learning rate."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.7)


@torch.compile(fullgraph=False)
def step():
    optimizer.step()


x = torch.randn(4, 3)
for _ in range(5):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    step()
    scheduler.step()
    print(loss.item())

# function: SGD.step
# compiles: 5
# over: no
# next: exec("optimizer.param_groups[0]['lr'] = 0.0123"), step()
# remedy: 8 -> optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.5))   -> compiles 1
# remedy: 12 -> @torch.compile(dynamic=True)   -> compiles 5
