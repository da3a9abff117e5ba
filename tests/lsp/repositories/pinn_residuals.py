import torch, time
import torch.nn as nn

torch.manual_seed(1234)
NU = 0.01


class MLP(nn.Module):
    def __init__(self, widths):
        super().__init__()
        layers = []
        for a, b in zip(widths[:-1], widths[1:]):
            layers += [nn.Linear(a, b), nn.Tanh()]
        self.net = nn.Sequential(*layers[:-1])

    def forward(self, x, t):
        return self.net(torch.stack([x, t], -1)).squeeze(-1)


def grad(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]  # breaks


class PINN:
    def __init__(self):
        self.u = MLP([2, 16, 16, 1])
        self.iter = 0
        self.start = time.time()
        self.opt = torch.optim.Adam(self.u.parameters(), 1e-3)
        self.weights = {'pde': 1.0, 'bc': 10.0}
        self.total_loss = torch.compile(self.total_loss, backend='eager')

    def residual(self, x, t):
        u = self.u(x, t)
        u_x = grad(u, x)
        u_t = grad(u, t)
        u_xx = grad(u_x, x)
        return u_t + u * u_x - NU * u_xx

    def boundary(self, t):
        left = self.u(-torch.ones_like(t), t)
        right = self.u(torch.ones_like(t), t)
        return (left ** 2 + right ** 2).mean()

    def total_loss(self, x, t):
        parts = {'pde': self.residual(x, t).square().mean(), 'bc': self.boundary(t)}
        loss = sum(self.weights[k] * v for k, v in parts.items())
        self.iter += 1
        if self.iter % 2 == 0:
            el = time.time() - self.start  # breaks
            print('it %d loss %.3e time %.2f' % (self.iter, loss.item(), el))  # breaks
        return loss

    def fit(self, n):
        for _ in range(n):
            x = (2 * torch.rand(32) - 1).requires_grad_()
            t = torch.rand(32).requires_grad_()
            loss = self.total_loss(x, t)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()


PINN().fit(4)
