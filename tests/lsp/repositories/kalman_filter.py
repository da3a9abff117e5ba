"""Differentiable Kalman filter with a couple of numerical safety nets."""
import logging
import sys

import torch
import torch.nn as nn

logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
LOG = logging.getLogger("kf")


def safe_cholesky(P, jitter=1e-6, tries=3):
    for k in range(tries):
        L, info = torch.linalg.cholesky_ex(P + jitter * 10 ** k * torch.eye(P.shape[-1]))
        if not info.any():  # breaks
            return L
        LOG.warning("cholesky failed at jitter %g", jitter * 10 ** k)
    raise RuntimeError("not positive definite")


def symmetrize(P):
    return 0.5 * (P + P.mT)


class Dynamics(nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.A = nn.Parameter(torch.eye(n) + 0.01 * torch.randn(n, n))
        self.H = nn.Parameter(torch.randn(m, n))
        self.log_q = nn.Parameter(torch.full((n,), -2.0))
        self.log_r = nn.Parameter(torch.full((m,), -1.0))

    @property
    def Q(self):
        return torch.diag(self.log_q.exp())

    @property
    def R(self):
        return torch.diag(self.log_r.exp())


class KalmanFilter(nn.Module):
    def __init__(self, n=3, m=2, gate=9.0, monitor=None):
        super().__init__()
        self.dyn = Dynamics(n, m)
        self.gate = gate
        self.monitor = monitor
        self.register_buffer("m0", torch.zeros(n))
        self.register_buffer("P0", torch.eye(n))

    def predict(self, mean, P):
        A = self.dyn.A
        return A @ mean, symmetrize(A @ P @ A.T + self.dyn.Q)

    def correct(self, mean, P, y):
        H = self.dyn.H
        S = symmetrize(H @ P @ H.T + self.dyn.R)
        L = safe_cholesky(S)
        r = y - H @ mean
        w = torch.linalg.solve_triangular(L, r[:, None], upper=False)[:, 0]
        maha = w.square().sum()
        nll = 0.5 * maha + L.diagonal().log().sum()
        if maha > self.gate:  # breaks
            if self.monitor is not None:
                self.monitor("outlier", maha.item())  # breaks
            return mean, P, torch.zeros_like(nll)
        K = torch.cholesky_solve(H @ P, L).T
        return mean + K @ r, symmetrize(P - K @ H @ P), nll

    def forward(self, ys):
        mean, P = self.m0, self.P0
        total, means = 0.0, []
        for y in ys.unbind(0):
            mean, P = self.predict(mean, P)
            mean, P, nll = self.correct(mean, P, y)
            total = total + nll
            means.append(mean)
        return torch.stack(means), total / len(ys)


class Counter:
    def __init__(self):
        self.events = {}

    def __call__(self, kind, value):
        self.events.setdefault(kind, []).append(round(value, 2))


if __name__ == "__main__":
    torch.manual_seed(0)
    counter = Counter()
    kf = KalmanFilter(monitor=counter)
    filt = torch.compile(kf, backend="eager")
    ys = torch.randn(5, 2)
    ys[3] += 40
    traj, nll = filt(ys)
    nll.backward()
    print(traj.shape, nll.item(), counter.events)
