import contextlib
import torch
from torch import nn


class GradScalerLite:
    """Dynamic loss scale without amp"""

    def __init__(self, init=2.0 ** 8, growth=2.0, backoff=0.5, interval=2):
        self.scale = init
        self.growth, self.backoff, self.interval = growth, backoff, interval
        self._good = 0

    def unscale_(self, params):
        inv = 1.0 / self.scale
        for p in params:
            if p.grad is not None:
                p.grad.mul_(inv)

    def update(self, found_inf: bool):
        if found_inf:
            self.scale *= self.backoff
            self._good = 0
            return
        self._good += 1
        if self._good % self.interval == 0:
            self.scale *= self.growth


def global_norm(params):
    gs = [p.grad.norm() for p in params if p.grad is not None]
    return torch.stack(gs).norm()


def clip_(params, max_norm, norm):
    coef = max_norm / (norm + 1e-6)
    if coef < 1:  # breaks
        for p in params:
            p.grad.mul_(coef)


def build_step(model, opt, loss_fn, scaler, *, max_norm=1.0, ctx=contextlib.nullcontext()):
    params = [p for p in model.parameters() if p.requires_grad]

    def step(x, y):
        with ctx:
            loss = loss_fn(model(x), y)
        (loss * scaler.scale).backward()  # breaks
        scaler.unscale_(params)
        norm = global_norm(params)
        found_inf = not torch.isfinite(norm)  # breaks
        if not found_inf:
            clip_(params, max_norm, norm)
            opt.step()  # breaks
        scaler.update(found_inf)
        opt.zero_grad(set_to_none=True)
        return loss.detach(), norm

    return step


def ema_schedule(step, start=0.9, end=0.99, n=10):
    return start + (end - start) * min(step / n, 1.0)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
    opt = torch.optim.SGD(model.parameters(), lr=1e-2)
    step = build_step(model, opt, nn.functional.mse_loss, GradScalerLite(), max_norm=0.05)
    step = torch.compile(step, backend="eager")
    avg = 0.0
    for i in range(3):
        loss, norm = step(torch.randn(8, 6), torch.randn(8, 1))
        beta = ema_schedule(i)
        avg = beta * avg + (1 - beta) * loss.item()
    print(f"loss ema {avg:.4f} last norm {norm.item():.3f}")


main()
