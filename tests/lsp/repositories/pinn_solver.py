import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
np.random.seed(0)


class Sine(nn.Module):
    def forward(self, x): return torch.sin(x)


class PINN(nn.Module):
    def __init__(self, layers=(2, 16, 16, 1), nu=0.01 / np.pi):
        super().__init__()
        mods = []
        for i in range(len(layers) - 2):
            mods += [nn.Linear(layers[i], layers[i + 1]), Sine()]
        mods.append(nn.Linear(layers[-2], layers[-1]))
        self.net = nn.Sequential(*mods)
        self.nu = nu
        self.register_buffer("lb", torch.tensor([-1.0, 0.0]))
        self.register_buffer("ub", torch.tensor([1.0, 1.0]))

    def u(self, x, t):
        inp = torch.cat([x, t], dim=1)
        h = 2 * (inp - self.lb) / (self.ub - self.lb) - 1
        return self.net(h)

    def residual(self, x, t):
        x.requires_grad_(True)  # breaks
        t.requires_grad_(True)  # breaks
        u = self.u(x, t)
        ones = torch.ones_like(u)
        u_t = torch.autograd.grad(u, t, ones, create_graph=True)[0]  # breaks
        u_x = torch.autograd.grad(u, x, ones, create_graph=True)[0]  # breaks
        u_xx = torch.autograd.grad(u_x, x, ones, create_graph=True)[0]  # breaks
        return u_t + u * u_x - self.nu * u_xx


class Solver:
    def __init__(self, model, weights={"pde": 1.0, "ic": 10.0}):
        self.model = model
        self.weights = weights
        self.history = {"pde": [], "ic": []}
        self.opt = torch.optim.Adam(model.parameters(), 1e-3)
        self.compute_losses = torch.compile(self.compute_losses, backend="eager")

    def compute_losses(self, xf, tf, x0):
        f = self.model.residual(xf, tf)
        u0 = self.model.u(x0, torch.zeros_like(x0))
        losses = {"pde": f.pow(2).mean(), "ic": (u0 + torch.sin(np.pi * x0)).pow(2).mean()}
        for name, value in losses.items():
            self.history[name].append(value.detach().cpu().numpy())
        return sum(self.weights[k] * v for k, v in losses.items())

    def fit(self, n_iter):
        for it in range(n_iter):
            xf = torch.from_numpy(np.random.uniform(-1, 1, (20, 1))).float()
            tf = torch.rand(20, 1)
            loss = self.compute_losses(xf, tf, torch.linspace(-1, 1, 10)[:, None])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            print("it %d loss %.3e" % (it, loss.item()))


Solver(PINN()).fit(2)
