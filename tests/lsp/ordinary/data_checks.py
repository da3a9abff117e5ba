import torch
from torch import nn


def check_inputs(x, y):
    assert x.shape[0] == y.shape[0], "batch sizes differ"
    if not torch.isfinite(x).all():  # breaks
        raise ValueError("inputs are not finite")
    if y.min() < 0:  # breaks
        raise ValueError("negative labels")


class Checked(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x, y):
        check_inputs(x, y)
        return nn.functional.cross_entropy(self.fc(x), y)


checked = torch.compile(Checked(), backend="eager")
checked(torch.randn(2, 4), torch.tensor([0, 2]))
