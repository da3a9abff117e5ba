"""A small model whose graph torch.compile breaks, and which it compiles again: record or debug it to see why.

Press F5 with a breakpoint in `forward`, or Ctrl+F5 to run and record it. Then open Dynascope in the activity bar.
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(width, width)

    def forward(self, x, scale):
        hidden, gate = self.up(self.norm(x)).chunk(2, dim=-1)
        hidden = hidden * gate.sigmoid()
        if hidden.mean() > 0:  # a graph break: Dynamo cannot know which way it goes
            hidden = hidden * scale
        return x + self.down(hidden)


class Model(nn.Module):
    def __init__(self, width: int = 16, depth: int = 2) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))

    def forward(self, x, scale):
        for block in self.blocks:
            x = block(x, scale)
        return x.sum()


def main() -> None:
    torch.manual_seed(0)
    model = torch.compile(Model(), backend="aot_eager")
    with torch.no_grad():
        for batch, scale in ((4, 1.0), (6, 1.0), (6, 0.5)):  # recompiles: another size, then another number
            print(f"batch {batch}, scale {scale}: {model(torch.randn(batch, 16), scale).item():.3f}")


if __name__ == "__main__":
    main()
