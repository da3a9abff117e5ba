"""Classes that end in Tensor and are none."""

from typing import NamedTuple

import torch


class PackedTensor(NamedTuple):
    data: torch.Tensor
    length: int

    def any(self):
        return self.length > 0


@torch.compile(backend="eager")
def unpack(packed: PackedTensor, other: "torch.Tensor | None" = None):
    if packed:
        x = packed.data
    if packed.any():
        x = packed.data + 1
    if packed.length > 2:
        x = packed.data * 2
    return x


if __name__ == "__main__":
    unpack(PackedTensor(torch.ones(3), 3))
