import abc
import torch
import torch.nn.functional as F

LOSSES = {}


def loss(name, weight=1.0):
    def wrap(fn):
        LOSSES[name] = (fn, weight)
        return fn
    return wrap


@loss("focal", 1.0)
def focal(out, tgt):
    ce = F.cross_entropy(out["logits"], tgt["label"], reduction="none")
    return ((1 - (-ce).exp()) ** 2 * ce).mean()


@loss("box", 5.0)
def box(out, tgt):
    pos = tgt["label"] > 0
    if pos.sum() == 0:  # breaks
        return out["boxes"].sum() * 0.0
    return F.l1_loss(out["boxes"][pos], tgt["boxes"][pos])  # breaks


@loss("triplet", 0.5)
def triplet(out, tgt, margin=0.2):
    d = torch.cdist(out["emb"], out["emb"])
    same = tgt["label"][:, None] == tgt["label"][None]
    hard_pos = (d * same).max(1)[0]
    hard_neg = (d + 1e3 * same).min(1)[0]
    l = F.relu(hard_pos - hard_neg + margin)
    active = int((l > 0).sum())  # breaks
    return l.sum() / max(active, 1)


@loss("proto", 0.1)
def proto(out, tgt):
    protos = []
    for c in tgt["label"].unique():  # breaks
        protos.append(out["emb"][tgt["label"] == c].mean(0))  # breaks
    protos = torch.stack(protos)
    return torch.cdist(out["emb"], protos).min(1)[0].mean()


class Criterion(torch.nn.Module, metaclass=abc.ABCMeta):
    def __init__(self, names):
        super().__init__()
        self.names = list(names)
        self.log = {}

    @abc.abstractmethod
    def combine(self, parts): ...

    def forward(self, out, tgt):
        parts = {}
        for n in self.names:
            fn, w = LOSSES[n]
            parts[n] = w * fn(out, tgt)
        self.log = {k: v.item() for k, v in parts.items()}
        return self.combine(parts)


class SumCriterion(Criterion):
    def combine(self, parts):
        return torch.stack(list(parts.values())).sum()


def fake_outputs(n=8, c=3):
    g = lambda *s: torch.randn(*s, requires_grad=True)
    return ({"logits": g(n, c), "boxes": g(n, 4), "emb": g(n, 6)},
            {"label": torch.arange(n) % c, "boxes": torch.rand(n, 4)})


crit = torch.compile(SumCriterion(LOSSES), backend="eager")
for _ in range(2):
    o, t = fake_outputs()
    total = crit(o, t)
    total.backward()
print(total.item(), sorted(crit.log))
