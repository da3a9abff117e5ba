"""Variable lengths: padding, packing, lists of tensors."""

from typing import List, Optional

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


def lengths_to_mask(lengths: Tensor, longest: Optional[int] = None) -> Tensor:
    if longest is None:
        longest = int(lengths.max())  # breaks
    return torch.arange(longest)[None, :] < lengths[:, None]


def pack(batch: List[Tensor], mask: Tensor) -> Tensor:
    padded = pad_sequence(batch, batch_first=True)
    return padded[mask]  # breaks


@torch.compile(backend="eager")
def pooled(batch: List[Tensor], lengths: Tensor):
    mask = lengths_to_mask(lengths)
    tokens = pack(batch, mask)
    pieces = torch.split(tokens, lengths.tolist())  # breaks
    means = [piece.mean() for piece in pieces]
    return torch.stack(means), mask.sum()


@torch.compile(backend="eager")
def positions(mask: Tensor):
    where = mask.nonzero(as_tuple=True)  # breaks
    first = torch.where(mask.any(-1), mask.int().argmax(-1), -1)
    flat = torch.nonzero(mask)  # breaks
    assert flat.shape[-1] == 2
    return where[0], first, torch.unique_consecutive(flat[:, 0])  # breaks


if __name__ == "__main__":
    pooled([torch.ones(2), torch.ones(3)], torch.tensor([2, 3]))
    positions(torch.tensor([[True, False], [True, True]]))
