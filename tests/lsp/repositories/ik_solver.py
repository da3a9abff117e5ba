"""Damped least squares IK for a planar arm (batched)."""
import time
from typing import Optional

import torch
from torch import Tensor


class PlanarArm:
    def __init__(self, lengths=(1.0, 0.8, 0.5)):
        self.lengths = torch.tensor(lengths)
        self.dof = len(lengths)
        self.limits = torch.tensor([[-3.0, 3.0]] * self.dof)

    def fk(self, q: Tensor) -> Tensor:
        a = q.cumsum(-1)
        return torch.stack([(self.lengths * a.cos()).sum(-1), (self.lengths * a.sin()).sum(-1)], -1)

    def jacobian(self, q: Tensor) -> Tensor:
        a = q.cumsum(-1)
        s = (self.lengths * a.sin()).flip(-1).cumsum(-1).flip(-1)
        c = (self.lengths * a.cos()).flip(-1).cumsum(-1).flip(-1)
        return torch.stack([-s, c], dim=-2)


class IKSolver:
    def __init__(self, arm: PlanarArm, damping=0.1, tol=1e-2, max_iter=6, budget_ms: Optional[float] = None):
        self.arm = arm
        self.lam = damping
        self.tol = tol
        self.max_iter = max_iter
        self.budget = budget_ms
        self.last_info = {}

    def delta(self, q, target):
        e = target - self.arm.fk(q)
        J = self.arm.jacobian(q)
        A = J @ J.mT + self.lam ** 2 * torch.eye(2)
        return (J.mT @ torch.linalg.solve(A, e.unsqueeze(-1))).squeeze(-1), e.norm(dim=-1)

    def clamp(self, q):
        lo, hi = self.arm.limits.unbind(-1)
        return torch.minimum(torch.maximum(q, lo), hi)

    def solve(self, q, target):
        t0 = time.perf_counter()  # breaks
        err = None
        for it in range(self.max_iter):
            dq, err = self.delta(q, target)
            if bool((err < self.tol).all()):  # breaks
                break
            q = self.clamp(q + dq)
            if self.budget is not None and (time.perf_counter() - t0) * 1e3 > self.budget:
                break
        self.last_info = {"iters": it + 1, "err": err.max().item()}
        return q


@torch.compile(backend="eager")
def plan(solver: IKSolver, q0: Tensor, waypoints: Tensor) -> Tensor:
    path = [q0]
    for wp in waypoints.unbind(0):
        path.append(solver.solve(path[-1], wp))
    return torch.stack(path)


if __name__ == "__main__":
    arm = PlanarArm()
    solver = IKSolver(arm)
    wps = torch.tensor([[1.5, 0.5], [1.2, 0.9]])
    traj = plan(solver, torch.full((4, 3), 0.3), wps)
    print(traj.shape, solver.last_info)
