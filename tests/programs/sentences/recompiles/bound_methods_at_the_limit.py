"""Each client has an aggregator of its own, and hands its method over."""

import torch

torch._dynamo.config.recompile_limit = 3
SHARES = {"paris": 0.5, "rome": 0.2, "oslo": 0.1, "bern": 0.1, "riga": 0.1}


class Aggregator:
    def __init__(self, name, trim):
        self.name, self.trim = name, trim

    def reduce(self, updates):
        kept = updates.sort(dim=0).values[self.trim : -self.trim]
        return kept.mean(dim=0) * SHARES[self.name]


@torch.compile(backend="eager")
def server_round(weights, updates, reduce):
    return weights + 0.5 * reduce(updates)


torch.manual_seed(0)
weights = torch.zeros(3)
for name in SHARES:
    aggregator = Aggregator(name, 1)
    weights = server_round(weights, torch.randn(4, 3), aggregator.reduce)
print(weights.sum().item())

# function: server_round
# compiles: 3
# over: yes
# next: SHARES.update(kyiv=0.3), server_round(weights, torch.randn(4, 3), Aggregator("kyiv", 1).reduce)
# limit: reached
# remedy: 11 -> self.name, self.trim, self.share = name, trim, torch.tensor(SHARES[name]) && 15 -> return kept.mean(dim=0) * self.share   -> compiles 1
# remedy: 11 -> self.name, self.trim, self.share = name, trim, SHARES[name] && 15 -> return kept.mean(dim=0) * self.share   -> compiles 2
# remedy: 18 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 3
# remedy: 5 -> torch._dynamo.config.recompile_limit = 32   -> compiles 5
