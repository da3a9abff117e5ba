"""Keep rotary tables in a dict whose key is a hash of the options they were made with."""

import hashlib
import json

import torch

tables: dict[str, torch.Tensor] = {}


def key_of(options: dict[str, float]) -> str:
    return hashlib.md5(json.dumps(options, sort_keys=True).encode()).hexdigest()


def table(length: int, options: dict[str, float]) -> torch.Tensor:
    key = key_of(options | {"length": length})
    if key not in tables:
        angles = torch.arange(length)[:, None] / options["base"] ** torch.linspace(0, 1, 2)
        tables[key] = torch.cat([angles.cos(), angles.sin()], -1)
    return tables[key]


@torch.compile(backend="eager")
def rotate(queries: torch.Tensor, options: dict[str, float]) -> torch.Tensor:
    return queries * table(queries.shape[0], options) * options["scale"]


torch.manual_seed(0)
for length, base in ((4, 100.0), (4, 100.0), (6, 10.0), (5, 10.0)):
    rotated = rotate(torch.randn(length, 4), {"base": base, "scale": 0.5})
    print(length, base, round(rotated.sum().item(), 4), len(tables))
# breaks: 12
# compiles: 7
# remedy: 12 -> return tuple((name, options[name]) for name in sorted(options)) -> breaks none
# remedy: +11 -> @torch.compiler.disable -> breaks 16
