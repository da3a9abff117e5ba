"""A hand-written SGD step with momentum gets its learning rate from a cosine schedule."""

import math

import torch


@torch.compile
def sgd_step(params, grads, momenta, lr, decay):
    for param, grad, momentum in zip(params, grads, momenta, strict=True):
        momentum.mul_(0.9).add_(grad + decay * param)
        param.sub_(lr * momentum)


torch.manual_seed(0)
params = [torch.randn(3, 2), torch.randn(2)]
momenta = [torch.zeros_like(each) for each in params]
for step in range(6):
    lr = 0.1 * (1 + math.cos(math.pi * step / 6)) / 2
    grads = [each.sin() for each in params]
    sgd_step(params, grads, momenta, lr, 0.01)
print(sum(each.sum().item() for each in params))

# function: sgd_step
# compiles: 2
# over: yes
# next: sgd_step(params, grads, momenta, 0.0123, 0.01)
# remedy: 19 -> lr = torch.tensor(0.1 * (1 + math.cos(math.pi * step / 6)) / 2)   -> compiles 1
# remedy: 8 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: +8 -> torch._dynamo.config.specialize_float = True   -> compiles 6
