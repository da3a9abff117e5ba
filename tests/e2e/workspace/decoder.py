"""A decoder that keeps what it has decoded, compiled for sentences of any length."""

import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix = nn.Linear(width, width)
        self.decoded: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.mix(x)
        y = y.softmax(dim=-1)
        y = y.transpose(0, 1)
        self.decoded.append(y)
        y = y.half()
        if x.shape[0] == 6:
            y = y * 2
        return y - x.transpose(0, 1)


def main() -> None:
    decode = torch.compile(Decoder(4), backend="eager", dynamic=True)
    print("decoded:", tuple(decode(torch.ones(6, 4)).shape))


if __name__ == "__main__":
    main()
