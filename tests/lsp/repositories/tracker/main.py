import torch

from trk_assoc import GreedyMatcher
from trk_filter import KalmanBank
from trk_tracks import TrackManager


class Tracker:
    def __init__(self):
        self.bank = KalmanBank()
        self.matcher = GreedyMatcher(max_dist=2.0)
        self.tracks = TrackManager(max_age=2)
        self.compiled_step = torch.compile(self.step, backend="eager", dynamic=True)

    def step(self, mean, dets):
        mean = self.bank.predict(mean)
        matches, free = self.matcher(mean[:, :2], dets)
        for t, d in matches:
            mean = self.bank.update(mean, t, dets[d])
        if len(free):
            mean = torch.cat([mean, self.bank.spawn(dets[free])], 0)
        self.tracks.advance([t for t, _ in matches], mean.shape[0])
        return mean


if __name__ == "__main__":
    torch.manual_seed(0)
    trk = Tracker()
    mean = torch.zeros(2, 4)
    with torch.no_grad():
        for frame in range(2):
            dets = torch.tensor([[0.1, 0.0], [5.0, 5.0], [0.3, -0.2]]) + 0.01 * torch.randn(3, 2)
            mean = trk.compiled_step(mean, dets)
            print(frame, mean.shape, trk.tracks.summary())
