"""A denoiser looks its noise level up in a Python list."""

import torch

BETAS = [0.1 + 0.02 * step for step in range(20)]


@torch.compile
def add_noise(x, noise, step):
    beta = BETAS[step]
    return (1 - beta) ** 0.5 * x + beta**0.5 * noise


torch.manual_seed(0)
x, noise = torch.randn(2, 2, 3)
for step in (3, 8, 12, 17):
    print(step, add_noise(x, noise, step).sum().item())

# function: add_noise
# compiles: 4
# over: no
# next: add_noise(x, noise, 5)
# remedy: +8 -> BETAS = torch.tensor(BETAS) && 17 -> print(step, add_noise(x, noise, torch.tensor([step])).sum().item())   -> compiles 1
# remedy: 17 -> print(step, add_noise(x, noise, BETAS[step]).sum().item()) && 10 -> beta = step   -> compiles 2
# remedy: 8 -> @torch.compile(dynamic=True)   -> compiles 4
# remedy: +8 -> torch._dynamo.config.recompile_limit = 64   -> compiles 4
