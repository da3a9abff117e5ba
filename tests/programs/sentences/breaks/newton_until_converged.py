"""Newton's method in a while loop that ends as soon as the step is small."""

import torch

torch.manual_seed(0)


def step(roots: torch.Tensor, power: int, targets: torch.Tensor) -> torch.Tensor:
    return roots - (roots**power - targets) / (power * roots ** (power - 1))


@torch.compile
def solve(targets: torch.Tensor, power: int, tolerance: float) -> tuple[torch.Tensor, int]:
    roots, rounds = torch.ones_like(targets), 0
    change = torch.tensor(float("inf"))
    while change > tolerance:
        new = step(roots, power, targets)
        change = (new - roots).abs().max()
        roots, rounds = new, rounds + 1
    return roots, rounds


for power in (2, 3, 4):
    targets = torch.rand(5) * 9 + 1
    roots, rounds = solve(targets, power, 1e-4)
    print(power, rounds, [round(value, 4) for value in roots.tolist()])
# breaks: 16
# compiles: 4
# remedy: +8 -> @torch.compile && -12 -> breaks none
