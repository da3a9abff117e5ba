"""A training step that prints its loss from the function that is compiled."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile
def compute_loss(inputs: torch.Tensor, targets: torch.Tensor, step: int) -> torch.Tensor:
    output = model(inputs).squeeze(-1)
    loss = (output - targets).pow(2).mean()
    print("forward of a batch of", len(inputs))
    return loss + 1e-4 * sum(weight.square().sum() for weight in model.parameters())


for step in range(4):
    inputs = torch.randn(6, 4)
    loss = compute_loss(inputs, inputs.sum(-1), step)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{step}: {loss.item():.5f}")
# breaks: 15
# compiles: 2
# remedy: -15 && +21 -> print("forward of a batch of", len(inputs)) -> breaks none
# remedy: +6 -> torch._dynamo.config.reorderable_logging_functions.add(print) -> breaks none
# remedy: +6 -> torch._dynamo.config.ignore_logging_functions.add(print) -> breaks none -> silent
