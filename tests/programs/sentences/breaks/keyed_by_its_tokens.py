"""Embeddings of sentences that were met before come from a cache, keyed by their tokens."""

import hashlib
import pickle

import torch
from torch import nn


class Embedder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.out = nn.Embedding(50, 8), nn.Linear(8, 8)
        self.kept: dict[str, torch.Tensor] = {}

    def forward(self, tokens: torch.Tensor, scale: float) -> torch.Tensor:
        key = hashlib.md5(pickle.dumps(tokens.tolist())).hexdigest()
        if key not in self.kept:
            self.kept[key] = self.embed(tokens).mean(dim=1)
        return torch.tanh(self.out(self.kept[key])) * scale


torch.manual_seed(0)
model = Embedder()
compiled = torch.compile(model)
batches = [torch.randint(0, 50, (2, 5)) for _ in range(2)]
with torch.no_grad():
    for number in range(4):
        print(number, round(compiled(batches[number % 2], 2.0).sum().item(), 4))
# breaks: 17
# compiles: 9
# remedy: 16 -> def forward(self, tokens: torch.Tensor, key: str, scale: float) -> torch.Tensor: && -17 && 29 -> print(number, round(compiled(batches[number % 2], hashlib.md5(pickle.dumps(batches[number % 2].tolist())).hexdigest(), 2.0).sum().item(), 4)) -> breaks none
