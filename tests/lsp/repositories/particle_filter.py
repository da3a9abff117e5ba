import torch

compile = lambda f: torch.compile(f, backend="eager")


def propagate(p, dt, q):
    pos, vel = p[:, 0], p[:, 1]
    acc = q * torch.randn(p.shape[0])
    return torch.stack([pos + vel * dt + 0.5 * acc * dt * dt, vel + acc * dt], dim=1)


def likelihood(p, z, r):
    d = p[:, 0] - z
    return torch.exp(-0.5 * (d / r) ** 2)


def ess(w):
    return 1.0 / (w ** 2).sum()


def systematic_resample(w):
    n = w.numel()
    u = (torch.arange(n) + torch.rand(1)) / n
    cdf = torch.cumsum(w, 0)
    return torch.searchsorted(cdf, u).clamp(max=n - 1)


@compile
def pf_step(p, w, z):
    p = propagate(p, 0.1, 2.0)
    w = w * likelihood(p, z, 0.5)
    s = w.sum()
    if s < 1e-12:  # breaks
        w = torch.ones_like(w)
        s = w.sum()
    w = w / s
    if ess(w) < 0.5 * w.numel():  # breaks
        idx = systematic_resample(w)
        p = p[idx]
        w = torch.full_like(w, 1.0 / w.numel())
    mean = (p * w[:, None]).sum(0)
    return p, w, mean


def main():
    torch.manual_seed(0)
    p = torch.randn(64, 2)
    w = torch.full((64,), 1 / 64)
    xs = []
    for k in range(4):
        z = torch.tensor(0.2 * k)
        p, w, m = pf_step(p, w, z)
        xs.append(m[0].item())
    print(xs)


if __name__ == "__main__":
    main()
