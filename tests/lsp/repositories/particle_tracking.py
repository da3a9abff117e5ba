import math
import torch

#### bootstrap particle filter, 2d constant velocity ####

def systematic_resample(w):
    n = w.shape[0]
    u = (torch.arange(n) + torch.rand(1)) / n
    return torch.searchsorted(w.cumsum(0), u).clamp(max=n - 1)


def multinomial_resample(w):
    return torch.multinomial(w, w.shape[0], replacement=True)


RESAMPLERS = dict(systematic=systematic_resample, multinomial=multinomial_resample)


class State:
    def __init__(self, x, logw):
        self.x = x
        self.logw = logw
        self.ess = None


class ParticleFilter:
    def __init__(self, n=64, resampler='systematic', q=0.1, r=0.3):
        self.n = n
        self.resample = RESAMPLERS[resampler]
        self.q, self.r = q, r
        self.F = torch.eye(4)
        self.F[0, 2] = self.F[1, 3] = 1.0
        self.n_resampled = 0
        self.trace = []

    def init(self):
        return State(torch.randn(self.n, 4), torch.full((self.n,), -math.log(self.n)))

    def predict(self, x):
        return x @ self.F.T + self.q * torch.randn_like(x)

    def loglik(self, x, z):
        d = (x[:, :2] - z) / self.r
        return -0.5 * d.square().sum(-1)

    def step(self, s, z):
        x = self.predict(s.x)
        logw = s.logw + self.loglik(x, z)
        logw = logw - torch.logsumexp(logw, 0)
        w = logw.exp()
        s.ess = 1.0 / w.square().sum()
        if s.ess < 0.5 * self.n:  # breaks
            idx = self.resample(w)
            x = x[idx]
            logw = torch.full_like(logw, -math.log(self.n))
            self.n_resampled += 1
        est = (logw.exp()[:, None] * x).sum(0)
        self.trace.append(est[:2].numpy().copy())
        s.x, s.logw = x, logw
        return s


def run(pf, zs):
    step = torch.compile(pf.step, backend='eager')
    s = pf.init()
    for z in zs:
        s = step(s, z)
    return s


for kind in RESAMPLERS:
    pf = ParticleFilter(resampler=kind)
    s = run(pf, torch.randn(3, 2))
    print(kind, pf.n_resampled, float(s.ess), len(pf.trace))
