import torch
from torch import nn


class Scheduled(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.epoch = 0
        self.register_buffer("temperature", torch.tensor(1.0))

    def set_epoch(self, epoch):
        self.epoch = epoch
        self.temperature.fill_(max(0.1, 1 - epoch * 0.1))

    def forward(self, x):
        h = self.fc(x)
        if self.epoch > 2:
            h = torch.nn.functional.gumbel_softmax(h, tau=self.temperature.item(), hard=True)  # breaks
        else:
            h = h.softmax(-1)
        return h


model = Scheduled()
compiled = torch.compile(model, backend="eager")
compiled(torch.randn(2, 4))
model.set_epoch(3)
compiled(torch.randn(2, 4))
