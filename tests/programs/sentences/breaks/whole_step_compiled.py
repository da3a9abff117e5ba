"""A whole training step in one compiled function: forward, backward, optimizer."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05, weight_decay=0.1)


def loss_of(inputs: torch.Tensor, labels: torch.Tensor, smoothing: float) -> torch.Tensor:
    return nn.functional.cross_entropy(model(inputs), labels, label_smoothing=smoothing)


@torch.compile(backend="aot_eager")
def train_step(inputs: torch.Tensor, labels: torch.Tensor, smoothing: float = 0.1) -> torch.Tensor:
    loss = loss_of(inputs, labels, smoothing)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


for epoch in range(5):
    inputs = torch.randn(8, 6)
    labels = inputs[:, :3].argmax(-1)
    print(epoch, round(train_step(inputs, labels).item(), 4))
# breaks: 18 19 20
# compiles: 6
# remedy: +11 -> @torch.compile(backend="aot_eager") && -15 -> breaks none
