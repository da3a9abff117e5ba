import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class CosineSchedule:
    def __init__(self, opt, total, warmup):
        self.opt, self.total, self.warmup = opt, total, warmup
        self.i = 0

    def step(self):
        self.i += 1
        if self.i < self.warmup:
            f = self.i / self.warmup
        else:
            f = 0.5 * (1 + math.cos(math.pi * self.i / self.total))
        for g in self.opt.param_groups:
            g["lr"] = torch.tensor(1e-3 * f)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.f1 = nn.Linear(10, 20)
        self.f2 = nn.Linear(20, 3)

    def forward(self, x):
        return self.f2(F.gelu(self.f1(x)))


class GradScalerLite:
    scale = 8.0

    def unscale_and_check(self, params):
        bad = False
        for p in params:
            p.grad.div_(self.scale)
            if not torch.isfinite(p.grad).all():  # breaks
                bad = True
        return bad


def make_train_step(model, opt, scaler, max_norm=1.0):
    params = [p for p in model.parameters() if p.requires_grad]

    def train_step(x, y):
        opt.zero_grad(set_to_none=True)  # breaks
        loss = F.cross_entropy(model(x), y)
        (loss * scaler.scale).backward()  # breaks
        skip = scaler.unscale_and_check(params)
        norm = nn.utils.clip_grad_norm_(params, max_norm)
        if not skip:
            opt.step()  # breaks
        return loss.detach(), norm

    return torch.compile(train_step, backend="eager")


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Classifier()
    opt = torch.optim.SGD(model.parameters(), lr=torch.tensor(1e-3))
    sched = CosineSchedule(opt, 10, 2)
    step = make_train_step(model, opt, GradScalerLite())
    for _ in range(3):
        loss, norm = step(torch.randn(6, 10), torch.randint(0, 3, (6,)))
        sched.step()
        print("%.4f %.4f" % (loss.item(), norm.item()))
