"""Quantisation helpers that look at ranges."""

import torch


def calibrate(x: torch.Tensor, bits: int = 8):
    low, high = x.min(), x.max()
    if low == high:  # breaks
        return torch.ones(()), torch.zeros(())
    scale = (high - low) / (2**bits - 1)
    zero = torch.round(-low / scale)
    return scale, zero


class Fake(torch.nn.Module):
    def __init__(self, bits=8, observing=True):
        super().__init__()
        self.bits = bits
        self.register_buffer("enabled", torch.tensor([1], dtype=torch.uint8))
        self.observing = observing

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.enabled[0] == 1:  # breaks
            scale, zero = calibrate(x, self.bits)
            x = torch.fake_quantize_per_tensor_affine(x, scale, zero.to(torch.int32), 0, 255)
        if self.observing:
            x = x + 0
        return x


if __name__ == "__main__":
    torch.compile(Fake(), backend="eager")(torch.randn(4))
    torch.compile(calibrate, backend="eager")(torch.randn(4))
