"""Encode sentences of several lengths with an LSTM over a packed sequence."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class Encoder(nn.Module):
    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)

    def encode(self, embedded: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        return self.lstm(packed)[1][0][-1]

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return self.encode(self.embedding(tokens) * 2, lengths).tanh()


torch.manual_seed(0)
encoder = torch.compile(Encoder(10, 4), backend="aot_eager")
for lengths in ([5, 3], [2, 4], [1, 5]):
    encoded = encoder(torch.randint(0, 10, (2, 5)), torch.tensor(lengths))
    print(lengths, round(encoded.sum().item(), 4))
# breaks: 15 16
# compiles: 3
# remedy: +22 -> torch._dynamo.config.allow_rnn = True && 15 -> hidden = self.lstm(embedded)[0] && 16 -> return hidden[torch.arange(len(lengths)), lengths - 1] -> breaks none
# remedy: +14 -> @torch.compiler.disable -> breaks 19
