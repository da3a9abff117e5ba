import torch


@torch.compile(backend="eager")
def sinkhorn(cost, eps=0.1, iters=10, threshold=1e-2):
    n, m = cost.shape
    mu, nu = torch.full((n,), 1 / n), torch.full((m,), 1 / m)
    u, v = torch.zeros_like(mu), torch.zeros_like(nu)
    K = torch.exp(-cost / eps)
    u = torch.ones_like(mu)
    for _ in range(iters):
        before = u
        u = mu / (K @ v.exp())
        v = (nu / (K.t() @ u)).log()
        err = (u - before).abs().sum()
        if err.item() < threshold:  # breaks
            break
    plan = u[:, None] * K * v.exp()[None]
    return (plan * cost).sum(), plan


sinkhorn(torch.rand(4, 5))
