import torch
import torch.nn as nn


class RevIN(nn.Module):
    def __init__(self, num_features, eps=1e-5, affine=True):
        super(RevIN, self).__init__()
        self.eps = eps
        self.affine = affine
        if affine:
            self.weight = nn.Parameter(torch.ones(num_features))
            self.bias = nn.Parameter(torch.zeros(num_features))

    def forward(self, x, mode):
        if mode == 'norm':
            self._stats(x)
            x = (x - self.mean) / self.std
            if self.affine:
                x = x * self.weight + self.bias
        elif mode == 'denorm':
            if self.affine:
                x = (x - self.bias) / (self.weight + self.eps ** 2)
            x = x * self.std + self.mean
        return x

    def _stats(self, x):
        self.mean = x.mean(1, keepdim=True).detach()
        self.std = torch.sqrt(x.var(1, keepdim=True, unbiased=False) + self.eps).detach()


class moving_avg(nn.Module):
    def __init__(self, k):
        super(moving_avg, self).__init__()
        self.k = k
        self.avg = nn.AvgPool1d(k, stride=1)

    def forward(self, x):
        front = x[:, 0:1].repeat(1, (self.k - 1) // 2, 1)
        end = x[:, -1:].repeat(1, (self.k - 1) // 2, 1)
        return self.avg(torch.cat([front, x, end], 1).permute(0, 2, 1)).permute(0, 2, 1)


class BaseForecaster(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.revin = RevIN(cfg['channels']) if cfg.get('revin', True) else None
        self.build()

    def check_input(self, x):
        assert not torch.isnan(x).any(), 'nan in input window'  # breaks
        const = (x.std(1) == 0).sum()
        if const:  # breaks
            print('constant channels:', const)  # breaks

    def forward(self, x, x_mark=None):
        self.check_input(x)
        if self.revin is not None:
            x = self.revin(x, 'norm')
        y = self.forecast(x)
        if self.revin is not None:
            y = self.revin(y, 'denorm')
        return y[:, -self.cfg['pred_len']:, :]


class DLinear(BaseForecaster):
    def build(self):
        c = self.cfg
        self.decomp = moving_avg(c['kernel'])
        self.seasonal = nn.Linear(c['seq_len'], c['pred_len'])
        self.trend = nn.Linear(c['seq_len'], c['pred_len'])

    def forecast(self, x):
        t = self.decomp(x)
        s = x - t
        return (self.seasonal(s.transpose(1, 2)) + self.trend(t.transpose(1, 2))).transpose(1, 2)


class PeriodNet(DLinear):
    '''picks the dominant periods by FFT, then folds'''

    def top_periods(self, x, k=2):
        amp = torch.fft.rfft(x, dim=1).abs().mean(0).mean(-1)
        amp[0] = 0
        _, top = torch.topk(amp, k)
        top = top.detach().cpu().numpy()
        return [int(x.shape[1] // f) for f in top]  # breaks

    def forecast(self, x):
        outs = []
        for p in self.top_periods(x):
            n = x.shape[1] // p * p
            fold = x[:, :n].reshape(x.shape[0], n // p, p, -1).mean(1)
            outs.append(fold.mean(1, keepdim=True))
        return super().forecast(x) + 0.1 * sum(outs)


MODELS = {m.__name__: m for m in (DLinear, PeriodNet)}

if __name__ == '__main__':
    torch.manual_seed(2021)
    cfg = dict(channels=2, seq_len=24, pred_len=6, kernel=5)
    for name in MODELS:
        model = torch.compile(MODELS[name](cfg).float(), backend='eager')
        x = torch.randn(3, 24, 2)
        x[0, :, 0] = 1.
        out = model(x)
        loss = nn.MSELoss()(out, torch.randn(3, 6, 2))
        loss.backward()
        print(name, out.shape, loss.item())
