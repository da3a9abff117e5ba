import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, window=8, horizon=2):
        super().__init__()
        self.rnn = nn.LSTM(1, 8, batch_first=True)
        self.fc = nn.Linear(8, horizon)
        self.scaler_mean = nn.Parameter(torch.zeros(1), requires_grad=False)

    def forward(self, series):
        x = (series - self.scaler_mean).unsqueeze(-1)
        out, (h, c) = self.rnn(x)  # breaks
        pred = self.fc(out[:, -1])
        if pred.isnan().any():
            pred = torch.nan_to_num(pred)
        return pred


class NaiveDrift(nn.Module):
    def forward(self, series):
        slope = (series[:, -1] - series[:, 0]) / (series.shape[1] - 1)
        return torch.stack([series[:, -1] + slope * k for k in range(1, 3)], dim=1)


torch.compile(Forecaster(), backend="eager")(torch.randn(2, 8))
torch.compile(NaiveDrift(), backend="eager")(torch.randn(2, 8))
