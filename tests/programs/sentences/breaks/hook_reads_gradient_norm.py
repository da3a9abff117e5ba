"""Turn the gradient of an activation around in a hook that is set in the forward, and keep its norm."""

import torch
from torch import nn


class Reversal(nn.Module):
    def __init__(self, strength: float) -> None:
        super().__init__()
        self.encoder, self.domain = nn.Linear(4, 4), nn.Linear(4, 2)
        self.strength = strength
        self.largest = torch.zeros(())

    def turned(self, gradient: torch.Tensor) -> torch.Tensor:
        if gradient.norm() > self.largest:
            self.largest.copy_(gradient.norm())
        return -self.strength * gradient

    def forward(self, inputs: torch.Tensor, train: bool) -> torch.Tensor:
        features = self.encoder(inputs).relu()
        if train:
            features.register_hook(self.turned)
        return self.domain(features).log_softmax(-1)


torch.manual_seed(0)
model = Reversal(strength=0.5)
forward = torch.compile(model)
for train in (True, True, False):
    loss = -forward(torch.randn(5, 4), train)[:, 0].mean()
    model.zero_grad()
    loss.backward()
    print(train, round(loss.item(), 4), round(model.encoder.bias.grad.sum().item(), 5), round(model.largest.item(), 5))
# breaks: 15
# compiles: 3
# remedy: 15 -> self.largest.copy_(torch.maximum(self.largest, gradient.norm())) && -16 -> breaks none
