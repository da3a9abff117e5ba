import hashlib
from collections import OrderedDict

import torch
from torch import nn


class HashBucket:
    def __init__(self, n):
        self.n = n

    def __call__(self, values):
        return torch.tensor([int(hashlib.md5(str(v).encode()).hexdigest(), 16) % self.n for v in values])


class FeatureEncoder(nn.Module):
    def __init__(self, specs):
        super().__init__()
        self.specs = specs
        self.tables = nn.ModuleDict({k: nn.Embedding(n, d) for k, (n, d) in specs.items()})
        self.out_dim = sum(d for _, d in specs.values())

    def forward(self, feats):
        cols = []
        for name, table in self.tables.items():
            ids = feats[name]
            assert ids.max() < table.num_embeddings, f"{name} out of range"  # breaks
            e = table(ids)
            if e.dim() == 3:      # multi-hot
                e = e.mean(1)
            cols.append(e)
        return torch.cat(cols, -1)


class Tower(nn.Sequential):
    def __init__(self, enc, dim=8):
        super().__init__(OrderedDict(enc=enc, fc=nn.Linear(enc.out_dim, 16), act=nn.ReLU(), out=nn.Linear(16, dim)))


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = Tower(FeatureEncoder({"uid": (100, 8), "country": (10, 4)}))
        self.item = Tower(FeatureEncoder({"iid": (200, 8), "tags": (30, 4)}))
        self.log_temp = nn.Parameter(torch.zeros(()))
        self.bucket = HashBucket(200)
        self.seen = set()

    def forward(self, user, item):
        u = nn.functional.normalize(self.user(user), dim=-1)
        v = nn.functional.normalize(self.item(item), dim=-1)
        self.track(item["iid"])
        return u @ v.T * self.log_temp.exp()

    def track(self, iids):
        for i in iids.tolist():  # breaks
            self.seen.add(i)

    @torch.no_grad()
    def recommend(self, user, item, k=3):
        scores = self(user, item)
        top = scores.topk(k).indices
        return [[item["iid"][j].item() for j in row] for row in top]


def batch(n, bucket):
    user = {"uid": torch.randint(0, 100, (n,)), "country": torch.randint(0, 10, (n,))}
    item = {"iid": bucket([f"sku{i}" for i in range(n)]), "tags": torch.randint(0, 30, (n, 3))}
    return user, item


model = TwoTower()
model.compile(backend="eager")
opt = torch.optim.Adagrad(model.parameters(), 0.1)
for _ in range(2):
    u, i = batch(6, model.bucket)
    loss = nn.functional.cross_entropy(model(u, i), torch.arange(6))
    opt.zero_grad(); loss.backward(); opt.step()
print(len(model.seen), model.recommend(u, i))
