import torch


@torch.compile(backend="eager")
def solve(x, tol=1e-4):
    for i in range(20):
        fx = x**3 - 2
        if fx.abs().max() < tol:  # breaks
            break
        x = x - fx / (3 * x**2)
    return x, i


@torch.compile(backend="eager")
def bisect(lo, hi):
    steps = 0
    while (hi - lo).abs() > 0.1:  # breaks
        mid = (lo + hi) / 2
        if mid * mid > 2:  # breaks
            hi = mid
        else:
            lo = mid
        steps += 1
    return lo, steps


solve(torch.tensor([1.0, 2.0]))
bisect(torch.tensor(0.0), torch.tensor(2.0))
