import logging
from typing import Callable, Dict, Type

import torch
import torch.nn as nn

logger = logging.getLogger(__name__)
MODELS: Dict[str, Type[nn.Module]] = {}
ACTIVATIONS: Dict[str, Callable] = {"relu": torch.relu, "gelu": nn.functional.gelu}


def register(name):
    def deco(cls):
        MODELS[name] = cls
        return cls
    return deco


def register_act(name):
    def inner(fn):
        ACTIVATIONS[name] = fn
        return fn
    return inner


@register_act("noisy_relu")
def noisy_relu(x):
    y = torch.relu(x)
    if (y == 0).all():  # breaks
        logger.warning("dead layer")
    return y


@register_act("sq_relu")
def sq_relu(x):
    return torch.relu(x).square()


class BaseModel(nn.Module):
    act_name = "relu"

    def act(self, x):
        return ACTIVATIONS[self.act_name](x)


@register("mlp")
class MLP(BaseModel):
    act_name = "sq_relu"

    def __init__(self, dim, depth):
        super().__init__()
        self.fcs = nn.ModuleList(nn.Linear(dim, dim) for _ in range(depth))

    def forward(self, x):
        for fc in self.fcs:
            x = self.act(fc(x))
        return x


@register("res_mlp")
class ResMLP(MLP):
    act_name = "noisy_relu"

    def forward(self, x):
        return x + super().forward(x)


@register("debug_mlp")
class DebugMLP(MLP):
    def forward(self, x):
        print("input mean", x.mean().item())
        return super().forward(x)


def build_model(cfg):
    model = MODELS[cfg["name"]](**cfg["args"])
    if cfg.get("compile"):
        return torch.compile(model, backend=cfg.get("backend", "eager"))
    return model


def main():
    common = dict(args=dict(dim=4, depth=2), compile=True)
    a = build_model(dict(name="mlp", **common))
    b = build_model(dict(name="res_mlp", **common))
    dbg = build_model(dict(name="debug_mlp", args=dict(dim=4, depth=1)))
    x = torch.randn(3, 4)
    for m in (a, b, dbg):
        m(x).sum().backward()


if __name__ == "__main__":
    main()
