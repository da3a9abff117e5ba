"""A configuration whose defaults are not what the program uses."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    width: int = 16
    log_shapes: bool = True
    check_finite: bool = True


SETTINGS = Settings(log_shapes=False, check_finite=False)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.settings = Settings(width=4, log_shapes=False)
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        if self.settings.log_shapes:
            print("encoder", x.shape)
        if SETTINGS.check_finite and not torch.isfinite(x).all():
            raise ValueError("not finite")
        return self.proj(x)


model = Encoder()
model.compile(backend="eager")

if __name__ == "__main__":
    model(torch.randn(2, 4))
