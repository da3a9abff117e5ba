"""Long chains, as a formatter leaves them."""

import torch


@torch.compile(backend="eager")
def statistics(x, y):
    peak = (
        x.abs()
        .max()
        .item()
    )
    ids = (
        y
        .unique()
        .tolist()
    )
    if (
        x.mean() > 0
        and y.sum() > 0
    ):
        x = x + 1
    print(
        "peak",
        peak,
    )
    return x, ids


if __name__ == "__main__":
    statistics(torch.ones(3), torch.tensor([1, 2, 2]))
