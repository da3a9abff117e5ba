import torch
import torch.nn as nn


def global_norm(grads):
    return torch.sqrt(sum(g.pow(2).sum() for g in grads))


def clip_grads(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = global_norm(grads)
    if norm > max_norm:  # breaks
        scale = max_norm / (norm + 1e-6)
        for g in grads:
            g.mul_(scale)
    return norm


class GradScalerLite:
    def __init__(self, init=2.0 ** 4, growth_interval=2):
        self.scale = init
        self.good = 0
        self.growth_interval = growth_interval

    def check(self, grads):
        found_inf = False
        for g in grads:
            if not torch.isfinite(g).all():  # breaks
                found_inf = True
                break
        return found_inf

    def update(self, found_inf):
        if found_inf:
            self.scale /= 2
            self.good = 0
        else:
            self.good += 1
            if self.good % self.growth_interval == 0:
                self.scale *= 2


class Stepper:
    def __init__(self, model, lr=0.05):
        self.params = list(model.parameters())
        self.lr = lr
        self.momentum = [torch.zeros_like(p) for p in self.params]
        self.scaler = GradScalerLite()
        self.check_inf = torch.compile(self.scaler.check, backend="eager")

    @torch.no_grad()
    def sgd(self):
        for p, m in zip(self.params, self.momentum):
            m.mul_(0.9).add_(p.grad)
            p.add_(m, alpha=-self.lr)

    def step(self):
        with torch.no_grad():
            for p in self.params:
                p.grad.div_(self.scaler.scale)
        bad = self.check_inf([p.grad for p in self.params])
        if not bad:
            norm = compiled_clip(self.params, 0.5)
            compiled_sgd(self)
        self.scaler.update(bad)
        return norm


compiled_clip = torch.compile(clip_grads, backend="eager")
compiled_sgd = torch.compile(Stepper.sgd, backend="eager")

torch.manual_seed(0)
model = nn.Linear(3, 2)
stepper = Stepper(model)
for _ in range(3):
    model.zero_grad()
    loss = (model(torch.randn(8, 3) * 4) - 3).pow(2).mean()
    (loss * stepper.scaler.scale).backward()
    print(float(stepper.step()))
