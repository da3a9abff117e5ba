import torch
from torch import Tensor
from dataclasses import dataclass


@dataclass
class Track:
    mean: Tensor
    cov: Tensor
    id: int
    misses: int = 0


class KalmanFilter:
    def __init__(self, dt: float = 1.0):
        self.F = torch.eye(4)
        self.F[0, 2] = self.F[1, 3] = dt
        self.H = torch.eye(2, 4)
        self.Q = 0.01 * torch.eye(4)
        self.R = 0.1 * torch.eye(2)

    def predict(self, mean: Tensor, cov: Tensor):
        return self.F @ mean, self.F @ cov @ self.F.T + self.Q

    def gate(self, mean, cov, zs):
        S = self.H @ cov @ self.H.T + self.R
        d = zs - self.H @ mean
        maha = (d @ torch.linalg.inv(S) * d).sum(-1)
        return maha

    def update(self, mean: Tensor, cov: Tensor, z: Tensor):
        S = self.H @ cov @ self.H.T + self.R
        if torch.det(S).abs() < 1e-9:  # breaks
            return mean, cov
        K = torch.linalg.solve(S, self.H @ cov).T
        mean = mean + K @ (z - self.H @ mean)
        cov = (torch.eye(4) - K @ self.H) @ cov
        return mean, cov


class Tracker:
    def __init__(self, gate=9.2):
        self.kf = KalmanFilter()
        self.tracks = []
        self.gate = gate

    def start(self, z):
        self.tracks.append(Track(torch.cat([z, torch.zeros(2)]), torch.eye(4), len(self.tracks)))

    def match(self, trk, zs):
        maha = self.kf.gate(trk.mean, trk.cov, zs)
        best = maha.argmin().item()  # breaks
        if maha[best] > self.gate:  # breaks
            return None
        return best

    @torch.compile(backend="eager")
    def step_track(self, trk: Track, zs: Tensor):
        trk.mean, trk.cov = self.kf.predict(trk.mean, trk.cov)
        j = self.match(trk, zs)
        if j is None:
            trk.misses += 1
        else:
            trk.mean, trk.cov = self.kf.update(trk.mean, trk.cov, zs[j])
        return j

    def step(self, zs):
        return [self.step_track(t, zs) for t in self.tracks]


torch.manual_seed(0)
tr = Tracker()
tr.start(torch.tensor([0.0, 0.0]))
tr.start(torch.tensor([5.0, 5.0]))
for k in range(2):
    print(tr.step(torch.tensor([[5.1 + k, 5.0], [0.1, 0.2 * k]])))
print(tr.step(torch.tensor([[100.0, 100.0]])), [t.misses for t in tr.tracks])
