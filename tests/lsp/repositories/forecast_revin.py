import warnings
from enum import Enum

import torch
import torch.nn as nn


class Mode(str, Enum):
    NORM = "norm"
    DENORM = "denorm"


class RevIN(nn.Module):
    def __init__(self, n_feat, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(n_feat))
        self.beta = nn.Parameter(torch.zeros(n_feat))

    def forward(self, x, mode):
        if mode == Mode.NORM:
            self._stats(x)
            return (x - self.mean) / self.std * self.gamma + self.beta
        elif mode == Mode.DENORM:
            return (x - self.beta) / (self.gamma + self.eps ** 2) * self.std + self.mean
        raise NotImplementedError(mode)

    def _stats(self, x):
        self.mean = x.mean(1, keepdim=True).detach()
        self.std = (x.var(1, keepdim=True, unbiased=False) + self.eps).sqrt().detach()


class MissingValueImputer(nn.Module):
    def forward(self, x):
        mask = torch.isnan(x)
        if mask.any():  # breaks
            warnings.warn("input contains NaN, filling with the series mean")  # breaks
            mean = x.nanmean(1, keepdim=True)
            x = torch.where(mask, mean.expand_as(x), x)
        return x


class SeriesDecomp(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.pool = nn.AvgPool1d(k, 1, k // 2, count_include_pad=False)

    def forward(self, x):
        trend = self.pool(x.transpose(1, 2)).transpose(1, 2)
        return x - trend, trend


class DLinear(nn.Module):
    def __init__(self, seq_len, pred_len, n_feat):
        super().__init__()
        self.imputer = MissingValueImputer()
        self.revin = RevIN(n_feat)
        self.decomp = SeriesDecomp(5)
        self.lin_s = nn.Linear(seq_len, pred_len)
        self.lin_t = nn.Linear(seq_len, pred_len)

    def forward(self, x):
        x = self.imputer(x)
        x = self.revin(x, Mode.NORM)
        s, t = self.decomp(x)
        y = self.lin_s(s.mT).mT + self.lin_t(t.mT).mT
        return self.revin(y, Mode.DENORM)


def dominant_period(x):
    amp = torch.fft.rfft(x, dim=1).abs().mean((0, 2))
    amp[0] = 0
    f = amp.argmax()
    return x.shape[1] // max(1, f.item())  # breaks


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    model = torch.compile(DLinear(24, 6, 3), backend="eager")
    period = torch.compile(dominant_period, backend="eager")
    x = torch.randn(4, 24, 3)
    x[0, 3, 1] = float("nan")
    print(model(x).shape, period(torch.nan_to_num(x)))
