import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(13, 17, num_layers=2)

    def forward(self, x):
        h, _ = self.rnn(x)
        return h[-1]


torch.manual_seed(0)
x = torch.randn(9, 5, 13)
print(torch.compile(Reader(), backend="aot_eager")(x).tolist())
