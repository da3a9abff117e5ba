import torch


def guidance(w):
    def fn(model, z, t, y):
        z2, t2 = torch.cat([z, z]), torch.cat([t, t])
        v, v0 = model(z2, t2, torch.cat([y, torch.full_like(y, 3)])).chunk(2)
        return v0 + w * (v - v0)
    return fn


class RectifiedFlow:
    def __init__(self, model):
        self.model = model

    def loss(self, z, y):
        t = torch.rand(z.shape[0])
        eps = torch.randn_like(z)
        zt = torch.lerp(z, eps, t[:, None])
        return (self.model(zt, t, y) - (eps - z)).square().mean()

    def sample(self, shape, y, steps, fn):
        z = torch.randn(shape)
        ts = torch.linspace(1, 0, steps + 1)
        for a, b in zip(ts[:-1].tolist(), ts[1:].tolist()):
            z = z + (b - a) * fn(self.model, z, torch.full(shape[:1], a), y)
        return z
