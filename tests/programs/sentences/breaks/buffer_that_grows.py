"""A buffer is made larger in place, and filled."""

import torch


@torch.compile
def grown(buffer, x):
    n = buffer.shape[0]
    buffer.resize_(n + x.shape[0], x.shape[1])
    buffer[n:] = x
    return buffer


buffer = torch.zeros(2, 4)
for _ in range(3):
    buffer = grown(buffer, torch.ones(2, 4))
    print(buffer.shape, buffer.sum().item())
# breaks: 9
# compiles: 4
# remedy: 9 -> buffer = torch.cat([buffer, x]) -> breaks none
