import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        if x.is_cuda:
            torch.cuda.synchronize()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.fc(x)
        if y.dtype == torch.bfloat16:
            y = y.float()
        if isinstance(x, torch.Tensor) and x.requires_grad:
            y = y * 2
        return y


mixed = torch.compile(Mixed(), backend="eager")
mixed(torch.randn(2, 4))
