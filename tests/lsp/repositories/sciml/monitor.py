import math


class CFLMonitor:
    """Host side checks between rollouts, never inside of one."""

    def __init__(self, grid, dt):
        self.grid, self.dt, self.log = grid, dt, []

    def check(self, u, log_k):
        number = 4 * self.dt * math.exp(log_k.item()) / self.grid.dx ** 2
        peak = float(u.abs().max())
        self.log.append((round(number, 3), round(peak, 3)))
        if number > 2 or math.isnan(peak):
            print("unstable!", number, peak)
            return False
        return True
