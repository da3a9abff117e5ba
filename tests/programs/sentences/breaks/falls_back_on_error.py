"""Read a bound from a tensor, with a default when it holds more than one value."""

import torch


@torch.compile
def bounded(values: torch.Tensor, bound: torch.Tensor, default: float) -> torch.Tensor:
    scaled = values * 2 + 1
    try:
        limit = bound.item()
    except RuntimeError:
        limit = default
    return scaled.clamp(-limit, limit)


torch.manual_seed(0)
for bound in (torch.tensor(0.5), torch.tensor([0.5, 2.0]), torch.tensor([1.5])):
    print(tuple(bound.shape), round(bounded(torch.randn(5), bound, 1.0).sum().item(), 4))
# breaks: 10
# compiles: 1
# remedy: 10 -> limit = bound.reshape(()) if bound.numel() == 1 else default -> breaks none
