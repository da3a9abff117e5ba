import copy
import pdb
import warnings
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn


@dataclass(frozen=True)
class Flags:
    check_finite: bool = False
    dump_dir: str = ""
    profile: bool = False
    anomaly: bool = False
    max_tokens: int = 64


class Checker:
    def __init__(self, flags):
        self.flags = flags

    def __call__(self, name, x):
        if self.flags.check_finite and not torch.isfinite(x).all():
            warnings.warn(f"{name} is not finite")
            pdb.set_trace()
        if self.flags.dump_dir:
            np.save(f"{self.flags.dump_dir}/{name}.npy", x.detach().cpu().numpy())
        return x


class Adapter(nn.Module):
    def __init__(self, d, check):
        super().__init__()
        self.down, self.up = nn.Linear(d, d // 2), nn.Linear(d // 2, d)
        self.check = check

    def forward(self, x):
        return x + self.check("adapter", self.up(self.down(x).relu()))


class Model(nn.Module):
    def __init__(self, flags, d=8):
        super().__init__()
        self.flags = flags
        check = Checker(flags)
        self.adapters = nn.ModuleList(Adapter(d, check) for _ in range(2))
        self.out = nn.Linear(d, 2)

    def _truncate(self, x):
        n = x.shape[1]
        if n > self.flags.max_tokens:
            x = x[:, : self.flags.max_tokens]
        if n % 2 == 1:
            x = nn.functional.pad(x, (0, 0, 0, 1))
        return x

    def forward(self, x, lengths=None):
        x = self._truncate(x)
        for a in self.adapters:
            x = a(x)
        if lengths is not None:
            n = int(lengths.max())
            x = x[:, :n]
        if torch.jit.is_scripting() or not torch.compiler.is_compiling():
            print("eager path", x.shape)
        return self.out(x.mean(1))


def snapshot(model):
    return copy.deepcopy(model.state_dict())


torch.manual_seed(0)
model = Model(replace(Flags(), max_tokens=6))
fast = torch.compile(model, backend="eager")
before = snapshot(model)
for n in (5, 8):
    y = fast(torch.randn(2, n, 8))
y.sum().backward()
print([k for k in before][:2], y.detach().numpy().round(2), model(torch.randn(1, 4, 8), torch.tensor([3])).shape)
