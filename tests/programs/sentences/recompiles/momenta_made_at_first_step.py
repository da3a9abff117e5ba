"""A functional optimizer makes its momentum buffers when it first meets a parameter."""

import torch


@torch.compile
def step(params, grads, state, lr):
    for name, param in params.items():
        if name not in state:
            state[name] = torch.zeros_like(param)
        state[name].mul_(0.9).add_(grads[name])
        param.sub_(lr * state[name])


torch.manual_seed(0)
params = {"weight": torch.randn(2, 3), "bias": torch.randn(2)}
state = {}
for _ in range(4):
    grads = {name: param.tanh() for name, param in params.items()}
    step(params, grads, state, 0.1)
print({name: param.sum().item() for name, param in params.items()})

# function: step
# compiles: 2
# over: yes
# next: step(params, grads, {name: each * 2 for name, each in state.items()}, 0.1)
# remedy: 17 -> state = {name: torch.zeros_like(param) for name, param in params.items()}   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
