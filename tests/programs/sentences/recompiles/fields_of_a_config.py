"""A config object is replaced by an edited copy between rounds."""

from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True)
class Config:
    rank: int
    alpha: float
    rounding: str = "none"


@torch.compile
def low_rank(x, down, up, config):
    hidden = x @ down[:, : config.rank]
    return config.alpha / config.rank * (hidden @ up[: config.rank])


torch.manual_seed(0)
x, down, up = torch.randn(2, 6), torch.randn(6, 9), torch.randn(9, 6)
config = Config(rank=2, alpha=4.0)
for _ in range(4):
    print(config.rank, low_rank(x, down, up, config).sum().item())
    config = replace(config, rank=config.rank + 1)

# function: low_rank
# compiles: 2
# over: yes
# next: low_rank(x, down, up, replace(config, rank=6))
# remedy: 15 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: +15 -> torch._dynamo.config.assume_static_by_default = False   -> compiles 1
# remedy: +15 -> torch._dynamo.config.recompile_limit = 64   -> compiles 2
