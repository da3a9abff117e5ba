"""Recurrent layers."""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 4)
        self.lstm = nn.LSTM(4, 4, batch_first=True)
        self.cell = nn.GRUCell(4, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, tokens):
        x = self.embed(tokens)
        out, (h, c) = self.lstm(x)  # breaks
        state = self.cell(h[-1])
        scores = self.head(out + state[:, None])
        if self.training:
            return scores
        return scores.argmax(-1)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.ModuleDict({"gru": nn.GRU(4, 4)})
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        y, _ = self.rnn["gru"](x)  # breaks
        return self.drop(y)


if __name__ == "__main__":
    torch.compile(Tagger().eval(), backend="eager")(torch.zeros(2, 3, dtype=torch.long))
    torch.compile(Decoder(), backend="eager")(torch.zeros(2, 3, 4))
