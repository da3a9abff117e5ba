"""Layers that another file of the same project uses."""

import torch
from torch import nn


def embed(table: nn.Embedding, tokens: torch.Tensor, mode: str) -> torch.Tensor:
    """Look tokens up and normalize."""
    return normalized(table(tokens), mode)


def normalized(values: torch.Tensor, mode: str) -> torch.Tensor:
    """Normalize, or not."""
    return values if mode == "none" else by_largest(values)


def by_largest(values: torch.Tensor) -> torch.Tensor:
    """Divide by the largest value."""
    largest = float(values.abs().max())
    return values / (largest + 1e-6)
