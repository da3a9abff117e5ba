"""Train with autocast, scaled gradients and a stream of its own: `mixed_precision.py DEVICE`."""

from __future__ import annotations

import contextlib
import sys

import torch


class Classifier(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.second = torch.nn.Linear(16, 2)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        hidden = self.first(inputs)
        return self.second(hidden.relu())  #: trace


def main(device: str) -> None:
    torch.manual_seed(0)
    dtype = torch.float16 if device == "cuda" else torch.bfloat16
    model = Classifier().to(device)
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler(device, init_scale=256.0)
    inputs = torch.randn(4, 8, device=device)
    stream = torch.cuda.Stream() if device == "cuda" else None
    if stream is not None:
        stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream) if stream is not None else contextlib.nullcontext():
        for _ in range(3):
            optimizer.zero_grad()
            with torch.autocast(device, dtype=dtype):
                loss = compiled(inputs).float().pow(2).mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            print(f"loss {loss.item():.4f} scale {scaler.get_scale()}")
        print("the same stream", stream is None or torch.cuda.current_stream() == stream)


if __name__ == "__main__":
    main(sys.argv[1])
