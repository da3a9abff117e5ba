"""A key-value cache whose position is a buffer that is read with int() at each token."""

import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        self.project = nn.Linear(width, 3 * width)
        self.register_buffer("keys", torch.zeros(length, width))
        self.register_buffer("values", torch.zeros(length, width))
        self.register_buffer("position", torch.zeros((), dtype=torch.long))

    def forward(self, token: torch.Tensor, scale: float) -> torch.Tensor:
        query, key, value = self.project(token).chunk(3)
        position = int(self.position)
        self.keys[position], self.values[position] = key, value
        self.position += 1
        scores = (self.keys[: position + 1] @ query) * scale
        return scores.softmax(0) @ self.values[: position + 1]


torch.manual_seed(0)
model = CachedAttention(4, 6)
decode = torch.compile(model)
with torch.no_grad():
    for _ in range(5):
        output = decode(torch.randn(4), 0.5)
        print(int(model.position), round(output.sum().item(), 4))
# breaks: 17
# compiles: 3
# remedy: 17 -> position = self.position.clone() && 18 -> self.keys.index_copy_(0, position[None], key[None]); self.values.index_copy_(0, position[None], value[None]) && 20 -> scores = (self.keys @ query * scale).masked_fill(torch.arange(len(self.keys)) > position, -torch.inf) && 21 -> return scores.softmax(0) @ self.values -> breaks none
# remedy: +24 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
