"""Only the optimizer's step is compiled, as the tutorials do; a scheduler changes its rate."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(0.1))
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)


@torch.compile
def update(scale: float) -> None:
    for weight in model.parameters():
        weight.grad.mul_(scale)
    optimizer.step()
    scheduler.step()


for step, scale in enumerate((1.0, 1.0, 0.5, 2.0)):
    optimizer.zero_grad()
    loss = (model(torch.randn(3, 4)) - 1).square().mean()
    loss.backward()
    update(scale)
    print(step, round(loss.item(), 4), round(optimizer.param_groups[0]["lr"].item(), 6))
# breaks: 16
# compiles: 4
# best: none
