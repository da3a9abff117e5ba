import torch
from torch import nn


class RegressionHead(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, 1)

    def forward(self, feats):
        y = self.fc(feats).squeeze(-1)
        if self.training and y.abs().max() > 100:  # breaks
            y = y.clamp(-100, 100)
        return y


class ClassHead(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        self.fc = nn.Linear(dim, n)

    def forward(self, feats):
        return self.fc(feats)


class RankHead(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, 1)

    def forward(self, feats):
        s = self.fc(feats).squeeze(-1)
        print("rank head scores:", s.shape)  # breaks
        return s[:, None] - s[None, :]


HEADS = {"reg": RegressionHead, "cls": lambda d: ClassHead(d, 4), "rank": RankHead}


class MultiTask(nn.Module):
    def __init__(self, tasks, dim=8):
        super().__init__()
        self.trunk = nn.Sequential()
        for i in range(2):
            self.trunk.append(nn.Linear(dim, dim))
            self.trunk.append(nn.Tanh())
        self.heads = nn.ModuleDict()
        for t in tasks:
            self.heads[t] = HEADS[t](dim)

    def forward(self, x):
        f = self.trunk(x)
        return {name: head(f) for name, head in self.heads.items()}  # breaks


class UncertaintyLoss(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.log_vars = nn.ParameterDict({t: nn.Parameter(torch.zeros(())) for t in tasks})

    def forward(self, losses):
        total = 0.0
        logs = {}
        for name, l in losses.items():
            total = total + torch.exp(-self.log_vars[name]) * l + self.log_vars[name]
            logs[name] = l.detach().item()  # breaks
        return total, logs


tasks = ["reg", "cls", "rank"]
model = torch.compile(MultiTask(tasks), backend="eager")
weigh = torch.compile(UncertaintyLoss(tasks), backend="eager")
out = model(torch.randn(5, 8))
losses = dict(
    reg=(out["reg"] - 1).pow(2).mean(),
    cls=nn.functional.cross_entropy(out["cls"], torch.randint(4, (5,))),
    rank=out["rank"].sigmoid().mean(),
)
total, logs = weigh(losses)
total.backward()
print(logs)
