import torch


class KalmanBank:
    """constant gain filter for all tracks at once"""

    def __init__(self, gain=0.6, dt=1.0):
        self.gain = gain
        F = torch.eye(4)
        F[0, 2] = F[1, 3] = dt
        self.F = F

    def predict(self, mean):
        if mean.numel() == 0:
            return mean
        return mean @ self.F.T

    def update(self, mean, i, z):
        innov = z - mean[i, :2]
        if innov.norm() > 10:  # breaks
            print("large innovation for track", i)
        mean = mean.clone()
        mean[i, :2] += self.gain * innov
        mean[i, 2:] += 0.5 * self.gain * innov
        return mean

    def spawn(self, dets):
        return torch.cat([dets, torch.zeros_like(dets)], -1)
