"""Embed a list of batches under a progress bar of one's own that writes to stdout."""

import sys
from collections.abc import Iterator

import torch


class Progress:
    def __init__(self, items: list[torch.Tensor], label: str) -> None:
        self.items, self.label = items, label

    def __iter__(self) -> Iterator[torch.Tensor]:
        for done, item in enumerate(self.items):
            yield item
            sys.stdout.write(f"{self.label} {done + 1}/{len(self.items)}\n")


@torch.compile(backend="eager")
def embed_all(batches: list[torch.Tensor], projection: torch.Tensor, label: str) -> torch.Tensor:
    embedded = []
    for batch in Progress(batches, label):
        embedded.append((batch @ projection).relu().mean(0))
    return torch.stack(embedded)


torch.manual_seed(0)
projection = torch.randn(3, 2)
for count, label in ((2, "train"), (3, "valid")):
    embedded = embed_all([torch.randn(4, 3) for _ in range(count)], projection, label)
    print(label, round(embedded.sum().item(), 4))
# breaks: 16
# compiles: 0
# remedy: 22 -> for batch in batches: && 30 -> embedded = embed_all(list(Progress([torch.randn(4, 3) for _ in range(count)], label)), projection, label) -> breaks none
# remedy: 16 -> pass -> breaks none -> silent
