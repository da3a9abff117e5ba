"""A transformer compiled again and again from cold; prints the seconds of each compile as one JSON line.

Usage: transformer.py BACKEND BLOCKS COMPILES [DEVICE]. CPU seconds are those of this process (all threads),
children not counted: on a shared machine they are steadier than the wall clock.
"""

import json
import sys
import time

import torch


class Block(torch.nn.Module):
    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention = torch.nn.LayerNorm(width)
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.before_mlp = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape
        shape = (batch, tokens, self.heads, width // self.heads)
        query, key, value = (part.view(shape).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        scores = query @ key.transpose(-1, -2) / (width // self.heads) ** 0.5
        mixed = scores.softmax(-1) @ value
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.before_attention(x))
        hidden = torch.nn.functional.gelu(self.up(self.before_mlp(x)))
        return x + self.down(hidden)


def main(backend: str, blocks: int, compiles: int, device: str = "cpu") -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(Block() for _ in range(blocks))).eval().to(device)
    x = torch.randn(2, 8, 32, device=device)
    seconds: dict[str, list[float]] = {"cpu": [], "wall": []}
    with torch.no_grad():
        for attempt in range(compiles + 1):
            torch._dynamo.reset()
            compiled = torch.compile(model, backend=backend)
            wall, cpu = time.perf_counter(), time.process_time()
            compiled(x)
            if attempt:  # the first one imports half of torch
                seconds["cpu"].append(time.process_time() - cpu)
                seconds["wall"].append(time.perf_counter() - wall)
    print("SECONDS " + json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
