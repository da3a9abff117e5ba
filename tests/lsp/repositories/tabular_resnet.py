import json
import logging
import os
import tempfile

import torch
import torch.nn as nn

logger = logging.getLogger(__name__)


class Schema:
    def __init__(self, cats, nums):
        self.cats, self.nums = cats, nums

    def dump(self, path):
        with open(path, "w") as fh:
            json.dump({"cats": self.cats, "nums": self.nums}, fh)


class CatEmbeddings(nn.Module):
    def __init__(self, cards, d):
        super().__init__()
        self.embs = nn.ModuleList([nn.Embedding(c + 1, d) for c in cards])
        self.unk_count = 0

    def forward(self, xc):
        cols = []
        for j, emb in enumerate(self.embs):
            col = xc[:, j]
            unk = col >= emb.num_embeddings
            n = unk.sum().item()  # breaks
            if n:
                self.unk_count += n
                col = col.masked_fill(unk, 0)
            cols.append(emb(col))
        return torch.cat(cols, dim=1)


class Block(nn.Module):
    def __init__(self, d, p):
        super().__init__()
        self.norm = nn.BatchNorm1d(d)
        self.l0, self.l1 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return x + self.l1(self.drop(self.l0(self.norm(x)).relu()))


class TabResNet(nn.Module):
    def __init__(self, schema, d=16, depth=2, p=0.1):
        super().__init__()
        self.schema = schema
        self.cat = CatEmbeddings(list(schema.cats.values()), 4)
        self.inp = nn.Linear(4 * len(schema.cats) + len(schema.nums), d)
        self.blocks = nn.Sequential(*(Block(d, p) for _ in range(depth)))
        self.head = nn.Linear(d, 1)

    def forward(self, xn, xc):
        if not torch.isfinite(xn).all():  # breaks
            raise ValueError("non finite numerical features")
        x = torch.cat([xn, self.cat(xc)], 1)
        x = self.blocks(self.inp(x))
        out = self.head(x).squeeze(1)
        logger.debug("out mean %s", out.mean())  # breaks
        return out


def main():
    torch.manual_seed(0)
    schema = Schema({"city": 5, "job": 9}, ["age", "income", "tenure"])
    model = TabResNet(schema)
    model = torch.compile(model, backend="eager")
    opt = torch.optim.AdamW(model.parameters(), 1e-3)
    tmp = tempfile.mkdtemp()
    schema.dump(os.path.join(tmp, "schema.json"))
    for ep in range(2):
        xn, xc = torch.randn(12, 3), torch.stack([torch.randint(0, 8, (12,)), torch.randint(0, 10, (12,))], 1)
        loss = (model(xn, xc) - xn.sum(1)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch.save(model.state_dict(), os.path.join(tmp, f"ep{ep}.pt"))
    print(loss.item(), model.cat.unk_count)


if __name__ == "__main__":
    main()
