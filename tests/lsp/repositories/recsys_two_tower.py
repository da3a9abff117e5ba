import logging
from dataclasses import dataclass, field
from typing import Dict, List

import torch
import torch.nn as nn
import torch.nn.functional as F

logger = logging.getLogger("recsys")


@dataclass
class TowerConfig:
    fields: Dict[str, int]
    dim: int = 4
    hidden: List[int] = field(default_factory=lambda: [8, 4])


@dataclass
class Config:
    user: TowerConfig
    item: TowerConfig
    compile: bool = True
    debug: bool = False


class Tower(nn.Module):
    def __init__(self, cfg: TowerConfig, debug: bool = False):
        super().__init__()
        self.tables = nn.ModuleDict({k: nn.Embedding(n, cfg.dim) for k, n in cfg.fields.items()})
        mods: List[nn.Module] = []
        prev = cfg.dim * len(cfg.fields)
        for h in cfg.hidden:
            mods += [nn.Linear(prev, h), nn.ReLU()]
            prev = h
        self.mlp = nn.Sequential(*mods[:-1])
        self.debug = debug

    def forward(self, feats: Dict[str, torch.Tensor]) -> torch.Tensor:
        embs = [table(feats[name]) for name, table in self.tables.items()]
        x = torch.cat(embs, dim=-1)
        if self.debug:
            print("tower input", x.mean().item())
        return F.normalize(self.mlp(x), dim=-1)


class TwoTower(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.user_tower = Tower(cfg.user, cfg.debug)
        self.item_tower = Tower(cfg.item, cfg.debug)
        self.log_temp = nn.Parameter(torch.zeros(()))

    def forward(self, batch):
        u = self.user_tower(batch["user"])
        v = self.item_tower(batch["item"])
        return u @ v.t() * self.log_temp.exp()


def in_batch_softmax(scores: torch.Tensor) -> torch.Tensor:
    target = torch.arange(scores.size(0), device=scores.device)
    if scores.size(0) > 3:
        return F.cross_entropy(scores, target)
    return F.cross_entropy(scores, target, label_smoothing=0.1)


def build(cfg: Config) -> nn.Module:
    model = TwoTower(cfg)
    if cfg.compile:
        model = torch.compile(model, backend="eager")
    return model


if __name__ == "__main__":
    cfg = Config(TowerConfig({"uid": 10, "age": 5}), TowerConfig({"iid": 20}))
    model = build(cfg)
    loss_fn = torch.compile(in_batch_softmax, backend="eager")
    opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
    batch = {
        "user": {"uid": torch.randint(10, (4,)), "age": torch.randint(5, (4,))},
        "item": {"iid": torch.randint(20, (4,))},
    }
    scores = model(batch)
    loss = loss_fn(scores)
    loss.backward()
    opt.step()
    logger.info("loss %f", loss.item())
    hits = (scores.argmax(1) == torch.arange(4)).sum()
    if hits > 2:
        print("good", hits.tolist())
