import torch
import torch.nn as nn


class MLP(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(widths, widths[1:])])

    def forward(self, x, t):
        h = torch.stack([x, t], dim=-1)
        for layer in self.layers[:-1]:
            h = torch.tanh(layer(h))
        return self.layers[-1](h).squeeze(-1)


def grad(u, x):
    return torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), create_graph=True)[0]  # breaks


class BurgersPINN:
    nu = 0.01

    def __init__(self, net):
        self.net = net
        self.residual_fn = torch.compile(self.residual, backend="eager")
        self.bc_fn = torch.compile(self.boundary_loss, backend="eager")

    def residual(self, x, t):
        u = self.net(x, t)
        u_t = grad(u, t)
        u_x = grad(u, x)
        u_xx = grad(u_x, x)
        return u_t + u * u_x - self.nu * u_xx

    def boundary_loss(self, t):
        left = self.net(-torch.ones_like(t), t)
        right = self.net(torch.ones_like(t), t)
        return (left ** 2 + right ** 2).mean()

    def loss(self, n=8):
        x = (torch.rand(n) * 2 - 1).requires_grad_()
        t = torch.rand(n).requires_grad_()
        r = self.residual_fn(x, t)
        return (r ** 2).mean() + self.bc_fn(t.detach())


@torch.compile(backend="eager")
def adaptive_weights(losses, alpha=0.9):
    total = sum(losses)
    w = [l / total for l in losses]
    if max(w) > alpha:  # breaks
        w = [1.0 / len(w) for _ in w]
    return w


torch.manual_seed(0)
pinn = BurgersPINN(MLP([2, 8, 8, 1]))
opt = torch.optim.Adam(pinn.net.parameters(), lr=1e-3)
for _ in range(2):
    opt.zero_grad()
    l = pinn.loss()
    l.backward()
    opt.step()
    print("loss", float(l))
print(adaptive_weights([torch.tensor(1.0), torch.tensor(2.0)]))
