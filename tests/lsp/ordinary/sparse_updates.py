import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self, size=16, d=4):
        super().__init__()
        self.register_buffer("slots", torch.zeros(size, d))
        self.register_buffer("pointer", torch.zeros(1, dtype=torch.long))
        self.size = size

    @torch.no_grad()
    def enqueue(self, keys):
        n = keys.shape[0]
        ptr = int(self.pointer)  # breaks
        self.slots[ptr : ptr + n] = keys
        self.pointer[0] = (ptr + n) % self.size

    def forward(self, q, k):
        logits = torch.cat([(q * k).sum(-1, keepdim=True), q @ self.slots.t()], dim=1)
        self.enqueue(k)
        return logits / 0.07


moco = torch.compile(Memory(), backend="eager")
moco(torch.randn(4, 4), torch.randn(4, 4))
