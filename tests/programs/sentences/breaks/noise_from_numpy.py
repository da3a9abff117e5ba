"""Noise for a denoiser drawn from a numpy generator inside the compiled function."""

import numpy as np
import torch

rng = np.random.default_rng(7)


def noise_like(images: torch.Tensor, sigma: float) -> torch.Tensor:
    drawn = rng.normal(scale=sigma, size=tuple(images.shape))
    return torch.from_numpy(drawn).to(images.dtype)


@torch.compile
def loss_of(images: torch.Tensor, sigma: float, weight: torch.Tensor) -> torch.Tensor:
    noise = noise_like(images, sigma)
    guess = (images + noise) * weight
    return (guess - images).square().mean() + 0.01 * weight.square().sum()


torch.manual_seed(0)
weight = torch.full((4,), 0.5)
for sigma in (0.1, 0.5, 1.0):
    images = torch.randn(3, 4)
    print(sigma, round(loss_of(images, sigma, weight).item(), 5))
# breaks: 10
# compiles: 6
# remedy: -16 && 25 -> noise = noise_like(images, sigma); print(sigma, round(loss_of(images, sigma, weight).item(), 5)) -> breaks none
# remedy: +9 -> @torch.compiler.disable -> breaks 16
