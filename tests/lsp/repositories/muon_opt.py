import torch
from torch import Tensor


@torch.compile(backend="eager", fullgraph=True)
def orthogonalize(G: Tensor, steps: int) -> Tensor:
    "Newton-Schulz, quintic coefficients."
    assert G.ndim >= 2
    a, b, c = (3.4445, -4.7750, 2.0315)
    X = G
    if G.size(-2) > G.size(-1): X = X.mT
    X = X / (X.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        A = X @ X.mT
        X = a * X + (b * A + c * A @ A) @ X
    if G.size(-2) > G.size(-1): X = X.mT
    return X


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr=0.02, momentum=0.95, nesterov=True, ns_steps=5, log_every=2):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, ns_steps=ns_steps))
        self.n, self.log_every = 0, log_every

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group['params']:
                if p.grad is None:
                    continue
                g = p.grad
                if not torch.isfinite(g).all():
                    print("skipping non-finite grad")
                    continue
                state = self.state[p]
                if 'buf' not in state:
                    state['buf'] = torch.zeros_like(g)
                buf = state['buf']
                buf.lerp_(g, 1 - group['momentum'])
                u = g.lerp(buf, group['momentum']) if group['nesterov'] else buf
                u = orthogonalize(u.reshape(len(u), -1), steps=group['ns_steps'])
                p.add_(u.view_as(p), alpha=-group['lr'] * max(1, p.size(-2) / p.size(-1))**0.5)
                if self.n % self.log_every == 0:
                    print(self.n, tuple(p.shape), "update rms", u.pow(2).mean().sqrt().item())
        self.n += 1


net = torch.nn.Sequential(
    torch.nn.Linear(8, 24, bias=False), torch.nn.ReLU(), torch.nn.Linear(24, 4, bias=False))
opt = Muon(net.parameters())
x, y = torch.randn(32, 8), torch.randint(0, 4, (32,))
for i in range(3):
    opt.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    print(f"step {i} {loss.item():.3f}")
