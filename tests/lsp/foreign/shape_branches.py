"""Branches that Dynamo decides from shapes, types and settings."""

import torch


@torch.compile(backend="eager", fullgraph=True, dynamic=True)
def f(x, mask=None, training=False):
    if x.shape[0] > 2:
        x = x * 2
    if len(x) == 3 and x.dim() == 2:
        x = x + 1
    if x.numel() > 0 and x.size(-1) % 2 == 0:
        x = x - 1
    if x.dtype == torch.float32 and x.device.type == "cpu":
        x = x.double()
    if x.requires_grad or x.is_cuda or not x.is_contiguous():
        x = x.contiguous()
    if isinstance(x, torch.Tensor) and torch.is_tensor(x) and x.is_floating_point():
        x = x.float()
    if mask is not None:
        x = x * mask
    while x.ndim < 4:
        x = x.unsqueeze(0)
    if torch.is_grad_enabled():
        x = x.detach()
    for _ in range(x.shape[-1]):
        x = x + 1
    return x


if __name__ == "__main__":
    f(torch.ones(3, 4))
