import torch
from torch import Tensor, nn


@torch.compile(backend="eager")
def orthogonalize(g: Tensor, steps: int = 4, eps: float = 1e-7) -> Tensor:
    assert g.ndim == 2, f"expected a matrix, got {g.shape}"
    x = g.float()
    x = x / (x.norm() + eps)
    wide = g.size(0) <= g.size(1)
    if not wide:
        x = x.T
    for a, b, c in [(3.44, -4.77, 2.03)] * steps:
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    return (x if wide else x.T).to(g.dtype)


class MatrixSGD(torch.optim.Optimizer):
    """Orthogonalised momentum for matrices, plain sign-momentum for everything else."""

    def __init__(self, params, lr=0.02, momentum=0.9, nesterov=True, verbose=False):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov))
        self.verbose = verbose

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "buf" not in state:
                    state["buf"] = torch.zeros_like(p)
                    state["step"] = 0
                state["step"] += 1
                buf = state["buf"]
                buf.mul_(group["momentum"]).add_(p.grad)
                u = p.grad.add(buf, alpha=group["momentum"]) if group["nesterov"] else buf
                if p.ndim == 2:
                    u = orthogonalize(u)
                    scale = max(1, p.size(0) / p.size(1)) ** 0.5
                else:
                    u, scale = u.sign(), 0.1
                p.add_(u, alpha=-group["lr"] * scale)
                if self.verbose:
                    print(tuple(p.shape), u.norm().item())
        return loss


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 8))
    opt = MatrixSGD(net.parameters(), verbose=True)

    def closure():
        opt.zero_grad()
        x = torch.randn(32, 8)
        loss = (net(x) - x.roll(1, -1)).square().mean()
        loss.backward()
        return loss

    losses = [opt.step(closure).item() for _ in range(3)]
    assert all(l == l for l in losses)
    print(losses)


main()
