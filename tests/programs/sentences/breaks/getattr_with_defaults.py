"""A config whose missing options are looked up by __getattr__, which says so."""

import sys

import torch


class Config:
    defaults = {"scale": 2.0, "bias": 0.5, "clip": 1.0}  # noqa: RUF012

    def __init__(self, given: dict[str, float]) -> None:
        self.given = given

    def __getattr__(self, name: str) -> float:
        if name not in self.given:
            sys.stderr.write(f"{name} is not given\n")
        return self.given.get(name, self.defaults[name])


@torch.compile(backend="eager")
def affine(inputs: torch.Tensor, config: Config) -> torch.Tensor:
    scaled = inputs * config.scale
    return (scaled + config.bias).clamp(-config.clip, config.clip)


torch.manual_seed(0)
for given in ({}, {"scale": 3.0}, {"bias": -1.0, "clip": 2.0}):
    print(given, round(affine(torch.randn(4), Config(given)).sum().item(), 4))
# breaks: 16
# compiles: 0
# remedy: 16 -> pass -> breaks none -> silent
