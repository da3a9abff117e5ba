import torch
from torch import nn


class Sentiment(nn.Module):
    def __init__(self, vocab=50, d=8):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d, padding_idx=0)
        self.lstm = nn.LSTM(d, d, num_layers=2, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.1)
        self.fc = nn.Linear(2 * d, 2)

    def forward(self, ids, lengths):
        x = self.dropout(self.embedding(ids))
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)  # breaks
        _, (h, _) = self.lstm(packed)  # breaks
        return self.fc(torch.cat([h[-2], h[-1]], dim=-1))


model = torch.compile(Sentiment(), backend="eager")
model(torch.randint(1, 50, (2, 5)), torch.tensor([5, 3]))
