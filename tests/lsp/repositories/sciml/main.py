import torch

from fields import Closure, Diffusion, Grid, Reaction
from integrators import make
from monitor import CFLMonitor


def fit(name="ssprk3", iters=2):
    grid, dt = Grid(8), 1e-3
    diff = Diffusion(0.5)
    term = diff + Reaction() + Closure()
    integ = make(name, term, grid, dt)
    rollout = torch.compile(integ.rollout, backend="eager")
    mon = CFLMonitor(grid, dt)
    opt = torch.optim.Adam(term.parameters(), 1e-2)
    u0 = torch.rand(2, 8, 8)
    target = u0.mean((1, 2), keepdim=True).expand_as(u0)
    for _ in range(iters):
        traj = rollout(u0, 3, save_every=3)
        loss = (traj[-1] - target).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if not mon.check(traj.detach(), diff.log_k):
            break
        print(name, f"{loss.item():.5f}")
    return mon.log


if __name__ == "__main__":
    torch.manual_seed(0)
    for name in ("euler", "ssprk3"):
        print(fit(name))
