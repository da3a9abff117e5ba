"""As training scripts are written: models made in functions, moved, compiled in main or in `__init__`."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    width: int = 16
    heads: int = 2
    verbose: bool = False


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        y = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        return self.out(y)


class Experts(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.router = nn.Linear(config.width, 2)
        self.experts = nn.ModuleList([nn.Linear(config.width, config.width) for _ in range(2)])

    def forward(self, x):
        flat = x.reshape(-1, x.size(-1))
        choice = self.router(flat).argmax(dim=-1)
        result = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            result = result + expert(flat) * (choice == number).unsqueeze(-1)
        load = choice.float().mean().item()  # breaks
        return result.view_as(x) * (1.0 + 0.0 * load)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = Attention(config)
        self.experts = Experts(config)
        self.norm = nn.LayerNorm(config.width)

    def forward(self, x):
        x = x + self.attention(self.norm(x))
        return x + self.experts(self.norm(x))


class Transformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.blocks = nn.Sequential(Block(config), Block(config))

    def forward(self, x):
        if self.config.verbose:
            print("forward", x.shape)
        x = self.blocks(x)
        if self.training:
            x = F.dropout(x, 0.1)
        if torch.isnan(x).any():  # breaks
            raise ValueError("not a number")
        return x.mean(dim=1)


class Smoother(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = torch.compile(self.step, backend="eager")

    def forward(self, x):
        return self.step(x) + 1

    def step(self, x):
        if x.std() > 1e-3:  # breaks
            x = x / x.std()
        return x


def build(config):
    model = Transformer(config)
    return model.to("cpu").eval()


def loss_of(model, batch):
    output = model(batch["x"])
    loss = F.mse_loss(output, batch["y"])
    scale = 2.0 if batch["x"].dtype == torch.float32 else 1.0
    return loss * scale


def main():
    config = Config()
    model = build(config)
    compiled = torch.compile(model, backend="eager")
    batch = {"x": torch.randn(2, 8, 16), "y": torch.randn(2, 16)}
    with torch.no_grad():
        compiled(batch["x"])
        Smoother()(batch["x"])
        torch.compile(loss_of, backend="eager")(nn.Sequential(nn.Flatten(), nn.Linear(128, 16)), batch)


if __name__ == "__main__":
    main()
