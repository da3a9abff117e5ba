import torch
import torch._dynamo
import torch.nn as nn


@torch._dynamo.disable
def matcher(cost):
    """Greedy assignment on CPU (poor man's Hungarian)."""
    cost = cost.clone()
    pairs = []
    for _ in range(min(cost.shape)):
        i = int(cost.argmin())
        r, c = divmod(i, cost.shape[1])
        pairs.append((r, c))
        cost[r] = float("inf")
        cost[:, c] = float("inf")
    return torch.tensor(pairs)


@torch.compiler.disable
def log_scalar(name, value):
    print(name, float(value))


class SetCriterion(nn.Module):
    def __init__(self, n_cls):
        super().__init__()
        self.n_cls = n_cls

    @torch.no_grad()
    def cost(self, logits, boxes, t_cls, t_box):
        c_cls = -logits.softmax(-1)[:, t_cls]
        return c_cls + torch.cdist(boxes, t_box, p=1)

    def forward(self, out, tgt):
        cost = self.cost(out["logits"], out["boxes"], tgt["cls"], tgt["boxes"])
        idx = matcher(cost)  # breaks
        src, dst = idx[:, 0], idx[:, 1]
        target = torch.full((out["logits"].size(0),), self.n_cls - 1)
        target[src] = tgt["cls"][dst]
        ce = nn.functional.cross_entropy(out["logits"], target)
        l1 = (out["boxes"][src] - tgt["boxes"][dst]).abs().mean()
        log_scalar("l1", l1)  # breaks
        return ce + 5 * l1


class Detr(nn.Module):
    def __init__(self, q=5, d=8, n_cls=4):
        super().__init__()
        self.query = nn.Parameter(torch.randn(q, d))
        self.attn = nn.Linear(d, d)
        self.cls, self.box = nn.Linear(d, n_cls), nn.Linear(d, 4)

    def forward(self, mem):
        w = (self.attn(self.query) @ mem.t()).softmax(-1)
        h = w @ mem
        return {"logits": self.cls(h), "boxes": self.box(h).sigmoid()}


torch.manual_seed(0)
model, crit = Detr(), SetCriterion(4)


def train_step(mem, tgt):
    out = model(mem)
    return crit(out, tgt)


train_step = torch.compile(train_step, backend="eager")
loss = train_step(torch.randn(6, 8), {"cls": torch.tensor([0, 2]), "boxes": torch.rand(2, 4)})
loss.backward()
print(loss.item())
