"""Clip gradients by their norm, which is read into Python to compare and divide."""

import torch


@torch.compile
def clip(grads: list[torch.Tensor], limit: float, eps: float = 1e-6) -> tuple[list[torch.Tensor], float]:
    norm = torch.stack([grad.norm() for grad in grads]).norm().item()
    scale = min(1.0, limit / (norm + eps))
    return [grad * scale for grad in grads], norm


torch.manual_seed(0)
history = []
for step in range(4):
    grads = [torch.randn(4, 3) * 4**step, torch.randn(5) * 4**step]
    clipped, norm = clip(grads, 10.0)
    history.append(float(norm))
    print(step, [round(grad.abs().max().item(), 4) for grad in clipped])
print([round(value, 3) for value in history])
# breaks: 8
# compiles: 4
# remedy: 8 -> norm = torch.stack([grad.norm() for grad in grads]).norm() && 9 -> scale = (limit / (norm + eps)).clamp(max=1.0) -> breaks none
# remedy: +13 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
