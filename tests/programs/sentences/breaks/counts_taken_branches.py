"""A gate that picks a layer by the norm of the input and counts how often each is taken."""

import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.fast, self.slow = nn.Linear(width, width), nn.Linear(width, width)
        self.taken = {"fast": 0, "slow": 0}

    def run(self, name: str, hidden: torch.Tensor) -> torch.Tensor:
        self.taken[name] += 1
        return getattr(self, name)(hidden)

    def forward(self, hidden: torch.Tensor, limit: float) -> torch.Tensor:
        easy = hidden.norm() < limit
        return self.run("fast" if easy else "slow", hidden).relu()


torch.manual_seed(0)
model = Gated(3)
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    for limit in (0.5, 4.0, 9.0):
        output = compiled(torch.randn(2, 3), limit)
        taken = {name: int(count) for name, count in model.taken.items()}
        print(limit, round(output.sum().item(), 4), taken)
# breaks: 19
# compiles: 5
# remedy: 19 -> self.taken = {"fast": self.taken["fast"] + easy, "slow": self.taken["slow"] + ~easy}; return torch.cond(easy, lambda h: self.fast(h), lambda h: self.slow(h), (hidden,)).relu() -> breaks none
# remedy: 19 -> self.taken = {"fast": self.taken["fast"] + easy, "slow": self.taken["slow"] + ~easy}; return torch.where(easy, self.fast(hidden), self.slow(hidden)).relu() -> breaks none
