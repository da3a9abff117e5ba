"""Refine an estimate in a compiled loop until a budget of time is spent, by a clock that is passed in."""

import time
from collections.abc import Callable

import torch


def refine(estimate: torch.Tensor, target: torch.Tensor, rate: float) -> torch.Tensor:
    return estimate + rate * (target - estimate).tanh()


@torch.compile(backend="eager")
def refined(target: torch.Tensor, rate: float, budget: float, clock: Callable[[], float]) -> tuple[torch.Tensor, int]:
    estimate, rounds, started = torch.zeros_like(target), 0, time.time()
    while clock() - started < budget and rounds < 3:
        estimate = refine(estimate, target, rate)
        rounds += 1
    return estimate, rounds


torch.manual_seed(0)
for rate, budget in ((0.5, 3600.0), (0.9, 3600.0), (0.5, -1.0)):
    estimate, rounds = refined(torch.randn(3), rate, budget, time.time)
    print(rate, rounds, round(estimate.sum().item(), 5))
# breaks: 15 16
# compiles: 5
# remedy: +9 -> @torch.compile(backend="eager") && -13 -> breaks none
