"""Long chains, as a formatter leaves them."""

import torch


@torch.compile(backend="eager")
def statistics(x, y):
    peak = (
        x.abs()
        .max()
        .item()  # breaks
    )
    ids = (
        y
        .unique()  # breaks
        .tolist()  # breaks
    )
    if (
        x.mean() > 0  # breaks
        and y.sum() > 0  # breaks
    ):
        x = x + 1
    print(  # breaks
        "peak",
        peak,
    )
    return x, ids


if __name__ == "__main__":
    statistics(torch.ones(3), torch.tensor([1, 2, 2]))
