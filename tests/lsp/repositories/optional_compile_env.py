"""Decorator helper with an env switch; the maths below is plain pytorch."""
import functools
import inspect
import os
import torch

_ENABLED = os.getenv("MYLIB_COMPILE", "1") not in ("0", "false")
_BACKEND = os.getenv("MYLIB_BACKEND", "eager")


def optional_compile(fn=None, *, min_numel=0, **kw):
    if fn is None:
        return functools.partial(optional_compile, min_numel=min_numel, **kw)
    if not _ENABLED:
        return fn
    compiled = torch.compile(fn, backend=_BACKEND, **kw)
    sig = inspect.signature(fn)

    @functools.wraps(fn)
    def wrapper(*a, **k):
        first = next(iter(sig.bind(*a, **k).arguments.values()))
        if torch.is_tensor(first) and first.numel() < min_numel:
            return fn(*a, **k)
        return compiled(*a, **k)

    return wrapper


@optional_compile
def rgb_to_hsv(img):
    mx, arg = img.max(-3)
    mn = img.min(-3)[0]
    diff = mx - mn + 1e-8
    r, g, b = img.unbind(-3)
    h = torch.stack([(g - b) / diff % 6, (b - r) / diff + 2, (r - g) / diff + 4], -3)
    h = h.gather(-3, arg.unsqueeze(-3)).squeeze(-3) / 6
    return torch.stack([h, diff / (mx + 1e-8), mx], -3)


@optional_compile(min_numel=16)
def sinkhorn(cost, eps=0.1, iters=5):
    k = torch.exp(-cost / eps)
    u = torch.ones(cost.shape[0])
    for _ in range(iters):
        v = 1.0 / (k.T @ u)
        u = 1.0 / (k @ v)
    return u[:, None] * k * v[None]


@optional_compile(min_numel=16)
def sinkhorn_tol(cost, eps=0.1, tol=1e-2, max_iter=20):
    k = torch.exp(-cost / eps)
    u = torch.ones(cost.shape[0]) / cost.shape[0]
    n = 0
    while n < max_iter:
        prev = u
        v = 1.0 / (k.T @ u)
        u = 1.0 / (k @ v)
        n += 1
        if (u - prev).abs().max() < tol:  # breaks
            break
    return u[:, None] * k * v[None], n


def report(plan):
    rows = plan.sum(1)
    if not torch.allclose(rows, rows[0].expand_as(rows), atol=0.5):
        print("rows differ", rows.tolist())
    return plan.argmax(1).tolist()


if __name__ == "__main__":
    torch.manual_seed(0)
    print(rgb_to_hsv(torch.rand(2, 3, 4, 4)).shape)
    c = torch.rand(5, 5)
    print(report(sinkhorn(c)), report(sinkhorn(torch.rand(3, 3))))
    plan, n = sinkhorn_tol(c)
    print(n, report(plan))
