import math
import torch

G = 1.0
SOFT = 1e-2


def accel(pos, mass):
    d = pos[None] - pos[:, None]
    r2 = (d * d).sum(-1) + SOFT ** 2
    return G * (d * (mass[None] / r2 ** 1.5).unsqueeze(-1)).sum(1)


def leapfrog(pos, vel, mass, dt):
    vel = vel + 0.5 * dt * accel(pos, mass)
    pos = pos + dt * vel
    vel = vel + 0.5 * dt * accel(pos, mass)
    return pos, vel


def euler(pos, vel, mass, dt):
    return pos + dt * vel, vel + dt * accel(pos, mass)


INTEGRATORS = {"leapfrog": leapfrog, "euler": euler}


@torch.compile(backend="eager")
def simulate(pos, vel, mass, t_end, dt, method="leapfrog"):
    t = 0.0
    step = INTEGRATORS[method]
    traj = [pos]
    while t < t_end - 1e-9:
        h = min(dt, t_end - t)
        pos, vel = step(pos, vel, mass, h)
        traj.append(pos)
        t += h
    n = int(math.ceil(t_end / dt))
    assert len(traj) == n + 1, "wrong number of steps"
    return torch.stack(traj), vel


@torch.compile(backend="eager")
def energy(pos, vel, mass):
    ke = 0.5 * (mass * vel.square().sum(-1)).sum()
    i, j = torch.triu_indices(pos.size(0), pos.size(0), 1)
    r = (pos[i] - pos[j]).square().sum(-1).add(SOFT ** 2).sqrt()
    return ke - G * (mass[i] * mass[j] / r).sum()


def main():
    torch.manual_seed(0)
    pos, vel, mass = torch.randn(4, 3), torch.randn(4, 3) * 0.1, torch.ones(4)
    e0 = energy(pos, vel, mass).item()
    traj, v = simulate(pos, vel, mass, 0.05, 0.01)
    e1 = energy(traj[-1], v, mass).item()
    drift = abs(e1 - e0) / abs(e0)
    print("drift %.2e" % drift)
    if traj.isnan().any():
        print("blew up")


main()
