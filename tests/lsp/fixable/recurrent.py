import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 4)
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[-1]).sum()


torch.manual_seed(0)
print(torch.compile(Reader(), backend="eager")(torch.ones(5, 2, 3)))
