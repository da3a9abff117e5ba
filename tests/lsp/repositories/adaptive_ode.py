"""Adaptive Heun / Bogacki-Shampine integrators with a neural vector field."""
import torch
import torch.nn as nn


class VectorField(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim, 16), nn.Tanh(), nn.Linear(16, dim))
        self.nfe = 0

    def forward(self, t, y):
        self.nfe += 1
        return self.net(y) - 0.1 * t * y


def rms_norm(x):
    return x.pow(2).mean().sqrt()


def heun_step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h, y + h * k1)
    return y + h / 2 * (k1 + k2), h / 2 * (k2 - k1)


def bs23_step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + 3 * h / 4, y + 3 * h / 4 * k2)
    y1 = y + h * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
    k4 = f(t + h, y1)
    return y1, h * (-5 / 72 * k1 + 1 / 12 * k2 + 1 / 9 * k3 - 1 / 8 * k4)


STEPPERS = {"heun": (heun_step, 2), "bs23": (bs23_step, 3)}


def make_integrator(method, rtol=1e-2, atol=1e-3, max_steps=50):
    stepper, order = STEPPERS[method]

    def accept(err, y):
        scale = atol + rtol * y.abs()
        ratio = rms_norm(err / scale)
        return ratio.item()  # breaks

    def integrate(f, y0, t0, t1):
        t, y = t0, y0
        h = (t1 - t0) / 4
        n_rejected = 0
        for _ in range(max_steps):
            if t >= t1:
                break
            h = min(h, t1 - t)
            y_new, err = stepper(f, t, y, h)
            r = accept(err, y)
            if r <= 1.0:
                t, y = t + h, y_new
            else:
                n_rejected += 1
            h = h * min(4.0, max(0.25, 0.9 * (1 / (r + 1e-6)) ** (1 / order)))
        return y, n_rejected

    return integrate


class ODEBlock(nn.Module):
    def __init__(self, func, method="heun", compile_field=True):
        super().__init__()
        self.func = func
        self.integrate = make_integrator(method)
        self.field = torch.compile(func, backend="eager") if compile_field else func

    def forward(self, y):
        out, rej = self.integrate(self.field, y, 0.0, 1.0)
        return out, rej


@torch.compile(backend="eager")
def fixed_point(g, z, tol=1e-3):
    n = 0
    dz = torch.ones(())
    while dz > tol and n < 30:  # breaks
        z_next = g(z)
        dz = (z_next - z).norm()
        z = z_next
        n += 1
    return z, n


if __name__ == "__main__":
    torch.manual_seed(3)
    y = torch.randn(4, 3)
    blk = ODEBlock(VectorField(3), compile_field=False)
    run = torch.compile(blk.integrate, backend="eager")
    sol, rejected = run(blk.func, y, 0.0, 1.0)
    print(sol.shape, rejected, blk.func.nfe)
    z, it = fixed_point(lambda v: 0.5 * torch.cos(v), y)
    print(z.mean().item(), it)
