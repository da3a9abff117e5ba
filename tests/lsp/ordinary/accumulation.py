import torch
from torch import nn


class Loop:
    def __init__(self, model, every=2):
        self.model = model
        self.every = every
        self.optimizer = torch.optim.Adam(self.model.parameters())

    @torch.compile(backend="eager")
    def micro_step(self, index, x, y):
        loss = nn.functional.mse_loss(self.model(x), y) / self.every
        loss.backward()  # breaks
        if (index + 1) % self.every == 0:
            self.optimizer.step()  # breaks
            self.optimizer.zero_grad()  # breaks
            print(f"step {index}: {loss.item():.3f}")  # breaks
        return loss.detach()


loop = Loop(nn.Linear(4, 1))
for index in range(2):
    loop.micro_step(index, torch.randn(2, 4), torch.randn(2, 1))
