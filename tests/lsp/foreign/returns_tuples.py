"""torch functions that give something else than a tensor."""

import torch
import torch.nn.functional as F


@torch.compile(backend="eager")
def f(x):
    if torch.std_mean(x):
        x = x + 1
    if torch.atleast_1d(x, x):
        x = x * 2
    if torch.broadcast_tensors(x, x):
        x = x - 1
    if torch.broadcast_shapes((1,), (3,)):
        x = x + 2
    if F.max_pool1d(x[None], 2, return_indices=True):
        x = x * 3
    if torch.cond(x.shape[0] > 2, lambda: True, lambda: False):
        x = x + 3
    if torch.get_float32_matmul_precision() == "highest":  # breaks
        x = x + 4
    if torch.are_deterministic_algorithms_enabled():
        x = x + 5
    if torch.cuda.is_available() or torch.backends.mkldnn.is_available():  # breaks
        x = x + 6
    return x


if __name__ == "__main__":
    f(torch.ones(4))
