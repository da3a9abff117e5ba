import copy
import time

import torch
import torch.nn as nn


class EMA:
    """Exponential moving average of the parameters; lives outside of the graph."""

    def __init__(self, model, decay=0.99):
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)
        self.decay = decay
        self.updates = 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        d = min(self.decay, (1 + self.updates) / (10 + self.updates))
        src = [p for p in model.parameters()]
        dst = [p for p in self.module.parameters()]
        lerp_all(dst, src, d)


@torch.compile(backend="eager")
def lerp_all(dst, src, d):
    for a, b in zip(dst, src):
        a.mul_(d).add_(b.detach(), alpha=1 - d)


class ConsistencyLoss(nn.Module):
    def __init__(self, weight=1.0, kind="mse"):
        super().__init__()
        self.weight = weight
        self.kind = kind

    def forward(self, student, teacher):
        if self.kind == "mse":
            loss = (student.softmax(-1) - teacher.softmax(-1)).square().mean()
        elif self.kind == "kl":
            loss = nn.functional.kl_div(student.log_softmax(-1), teacher.softmax(-1))
        else:
            print("unknown kind", self.kind)
            loss = student.sum() * 0
        return loss * self.weight


def main():
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    ema = EMA(net)
    student = torch.compile(net, backend="eager")
    teacher = torch.compile(ema.module, backend="eager")
    criterion = torch.compile(ConsistencyLoss(), backend="eager")
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    t0 = time.time()
    for i in range(3):
        x = torch.randn(6, 4)
        with torch.no_grad():
            t = teacher(x + 0.1 * torch.randn_like(x))
        loss = criterion(student(x), t)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(net)
        print(i, loss.item())
    print(f"took {time.time() - t0:.2f}s")


main()
