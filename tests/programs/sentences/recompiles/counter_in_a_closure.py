"""A learner made by a function counts its updates in a variable of that function."""

import torch


def make_learner(weights, rate):
    updates = 0

    @torch.compile
    def learn(gradient):
        nonlocal updates
        updates += 1
        correction = 1 - 0.9**updates
        weights.sub_(rate * gradient / correction)
        return weights.sum()

    return learn


torch.manual_seed(0)
learn = make_learner(torch.randn(4), 0.1)
for step in range(5):
    print(step, learn(torch.ones(4) * step).item())

# function: make_learner.<locals>.learn
# compiles: 2
# over: yes
# next: learn(torch.ones(4))
# remedy: 7 -> updates = torch.zeros(())   -> compiles 1
# remedy: 9 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: +9 -> torch._dynamo.config.recompile_limit = 64   -> compiles 2
