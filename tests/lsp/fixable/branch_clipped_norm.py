import torch


@torch.compile(backend="eager")
def clip(grad, limit):
    norm = grad.norm()
    if norm > limit:
        grad = grad * (limit / norm)
    return grad * 0.5


for size in (0.1, 10.0):
    grad = torch.full((3,), size, requires_grad=True)
    out = clip(grad, 1.0)
    out.sum().backward()
    print(out, grad.grad)
