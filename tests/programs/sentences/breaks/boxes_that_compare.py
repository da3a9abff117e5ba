"""Boxes with dunder methods: containment and order are decided by their values."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass
class Box:
    low: torch.Tensor
    high: torch.Tensor

    def __contains__(self, point: torch.Tensor) -> bool:
        return bool(((point >= self.low) & (point <= self.high)).all())


@torch.compile
def loss_in(box: Box, points: torch.Tensor, penalty: float) -> torch.Tensor:
    center = (box.low + box.high) / 2
    distance = (points.mean(0) - center).norm()
    if points.mean(0) in box:
        return distance
    return distance * penalty


torch.manual_seed(0)
for size in (0.1, 1.0, 2.0):
    box = Box(torch.full((2,), -size), torch.full((2,), size))
    print(size, round(loss_in(box, torch.randn(3, 2), 10.0).item(), 4))
# breaks: 16
# compiles: 2
# remedy: 16 -> return ((point >= self.low) & (point <= self.high)).all() && -23 && -24 && 25 -> return torch.where(box.__contains__(points.mean(0)), distance, distance * penalty) -> breaks none
