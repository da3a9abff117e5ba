import copy
import torch
import torch.nn as nn


@torch.no_grad()
@torch.compile(backend="eager")
def _ema_kernel(dst, src, decay):
    for d, s in zip(dst, src):
        d.lerp_(s.to(d.dtype), 1.0 - decay)


@torch.compile(backend="eager")
@torch.no_grad()
def _foreach_ema(dst, src, decay):
    torch._foreach_mul_(dst, decay)
    torch._foreach_add_(dst, src, alpha=1 - decay)


class EMA:
    def __init__(self, model, decay=0.99, warmup=True, impl=_ema_kernel):
        self.module = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay
        self.warmup = warmup
        self.steps = 0
        self.impl = impl

    def _decay(self):
        if not self.warmup:
            return self.decay
        return min(self.decay, (1 + self.steps) / (10 + self.steps))

    def update(self, model):
        self.steps += 1
        src = [p.detach() for p in model.parameters()]
        dst = list(self.module.parameters())
        self.impl(dst, src, torch.tensor(self._decay()))
        for b_dst, b_src in zip(self.module.buffers(), model.buffers()):
            b_dst.copy_(b_src)

    def state_dict(self):
        return {"steps": self.steps, "module": self.module.state_dict()}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(6)
        self.l1 = nn.Linear(6, 12)
        self.l2 = nn.Linear(12, 1)

    def forward(self, x):
        x = self.bn(x)
        return self.l2(torch.relu(self.l1(x)))


def main():
    torch.manual_seed(0)
    model = Net()
    emas = {"kernel": EMA(model), "foreach": EMA(model, impl=lambda d, s, a: _foreach_ema(d, s, 0.9))}
    opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    compiled = torch.compile(model, backend="eager")
    for it in range(3):
        x = torch.randn(8, 6)
        loss = (compiled(x) - x.sum(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for name, e in emas.items():
            e.update(model)
        print(f"[{it}] loss={loss.item():.3f}")
    best = copy.deepcopy(emas["kernel"].state_dict())
    print(best["steps"])


if __name__ == "__main__":
    main()
