"""Window functions kept by functools.lru_cache, looked up with cache_info in a compiled function."""

import functools
import math

import torch


@functools.lru_cache(maxsize=4)
def window(size: int, kind: str) -> torch.Tensor:
    steps = torch.arange(size) * (2 * math.pi / size)
    return 0.5 - 0.5 * steps.cos() if kind == "hann" else torch.ones(size)


@torch.compile(backend="eager")
def spectrum(signal: torch.Tensor, kind: str, power: float) -> tuple[torch.Tensor, int]:
    windowed = signal * window(signal.shape[-1], kind)
    hits = window.cache_info().hits
    return windowed.abs().pow(power).sum(-1), hits


torch.manual_seed(0)
for size, kind in ((8, "hann"), (8, "hann"), (8, "flat"), (8, "hann")):
    values, hits = spectrum(torch.randn(2, size), kind, 1.5)
    print(size, kind, [round(value, 4) for value in values.tolist()], hits >= 0)
# breaks: 18
# compiles: 2
# remedy: 18 -> hits = 0 && +25 -> hits = window.cache_info().hits -> breaks none
