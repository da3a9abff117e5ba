"""A critic's loss with a gradient penalty: torch.autograd.grad within the compiled function."""

import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def penalty(mixed: torch.Tensor, target: float) -> torch.Tensor:
    mixed = mixed.detach().requires_grad_(True)
    scores = critic(mixed).sum()
    (gradient,) = torch.autograd.grad(scores, mixed, create_graph=True)
    return (gradient.norm(dim=-1) - target).square().mean()


@torch.compile(backend="aot_eager")
def critic_loss(real: torch.Tensor, fake: torch.Tensor, weight: float) -> torch.Tensor:
    mixed = 0.5 * (real + fake)
    return critic(fake).mean() - critic(real).mean() + weight * penalty(mixed, 1.0)


for weight in (0.0, 1.0, 10.0):
    loss = critic_loss(torch.randn(4, 3), torch.randn(4, 3), weight)
    print(weight, round(loss.item(), 5))
# breaks: 11 13
# compiles: 7
# remedy: -11 && 13 -> gradient = torch.func.grad(lambda points: critic(points).sum())(mixed) -> breaks none
# remedy: +6 -> torch._dynamo.config.trace_autograd_ops = True -> breaks 11
