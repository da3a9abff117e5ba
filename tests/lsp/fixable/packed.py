import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 4, batch_first=True)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, h = self.rnn(packed)
        return h.sum()


torch.manual_seed(0)
print(torch.compile(Encoder(), backend="eager")(torch.ones(2, 5, 3), torch.tensor([5, 3])).item() != 0)
