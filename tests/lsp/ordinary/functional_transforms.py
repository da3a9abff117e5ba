import torch
from torch.func import grad, vmap


def energy(w, x):
    return (x * w).tanh().sum()


@torch.compile(backend="eager")
def per_sample(w, xs):
    grads = vmap(grad(energy), in_dims=(None, 0))(w, xs)
    return grads.norm(dim=-1)


@torch.compile(backend="eager")
def step(w, xs, lr=0.1):
    g = grad(lambda w: vmap(energy, (None, 0))(w, xs).mean())(w)
    return w - lr * g


per_sample(torch.randn(4), torch.randn(3, 4))
step(torch.randn(4), torch.randn(3, 4))
