"""A step with three breaks of different kinds: a number, a print and a branch."""

import torch


@torch.compile
def rescaled(grads: torch.Tensor, scale: float, seen: dict[str, int]) -> torch.Tensor:
    largest = grads.abs().max().item()
    unscaled = grads / scale
    print("unscaled by", scale)
    if torch.isinf(unscaled).any():
        return torch.zeros_like(unscaled)
    return unscaled.clamp(-largest, largest).tanh()


torch.manual_seed(0)
for scale, value in ((2.0, 1.0), (4.0, float("inf")), (8.0, 3.0)):
    grads = torch.randn(4) * value
    result = rescaled(grads, scale, {"calls": 1})
    print(round(result.sum().item(), 5))
# breaks: 8 10 11
# compiles: 7
# remedy: 8 -> largest = grads.abs().max() && -10 && -11 && -12 && 13 -> return torch.where(torch.isinf(unscaled).any(), 0.0, unscaled.clamp(-largest, largest).tanh()) && +19 -> print("unscaled by", scale) -> breaks none
# remedy: 8 -> largest = grads.abs().max() && -11 && -12 && 13 -> return torch.where(torch.isinf(unscaled).any(), 0.0, unscaled.clamp(-largest, largest).tanh()) -> breaks 10
# remedy: 8 -> largest = grads.abs().max() -> breaks 10 11
# remedy: +16 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks 10 11
