"""A loss that refuses inputs which are not finite."""

import torch


def checked(values: torch.Tensor, name: str) -> torch.Tensor:
    if not torch.isfinite(values).all():
        raise ValueError(f"{name} has values that are not finite")
    return values


@torch.compile
def huber(prediction: torch.Tensor, target: torch.Tensor, delta: float) -> torch.Tensor:
    error = (checked(prediction, "prediction") - target).abs()
    loss = torch.where(error < delta, 0.5 * error**2, delta * (error - 0.5 * delta))
    return loss.mean()


torch.manual_seed(0)
for delta in (0.5, 1.0, 2.0):
    prediction, target = torch.randn(6, 2), torch.randn(6, 2)
    print(delta, round(huber(prediction, target, delta).item(), 5))
# breaks: 7
# compiles: 4
# remedy: 7 -> torch._assert_async(torch.isfinite(values).all(), f"{name} has values that are not finite") && -8 -> breaks none
# remedy: 7 -> assert torch.isfinite(values).all(), "values are not finite" && -8 -> breaks none
