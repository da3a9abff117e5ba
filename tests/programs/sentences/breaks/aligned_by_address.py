"""Copy inputs whose memory is not aligned before a matrix product; the address is asked for."""

import torch


def aligned(values: torch.Tensor, bytes_: int) -> torch.Tensor:
    if values.data_ptr() % bytes_:
        return values.clone()
    return values


@torch.compile
def product(left: torch.Tensor, right: torch.Tensor, *, alignment: int = 16) -> torch.Tensor:
    doubled = left.tanh() * 2
    return (aligned(doubled, alignment) @ aligned(right, alignment)).relu()


torch.manual_seed(0)
storage = torch.randn(40)
for offset in (0, 1, 4):
    right = storage[offset : offset + 12].view(4, 3)
    print(offset, round(product(torch.randn(2, 4), right).sum().item(), 4))
# breaks: 7
# compiles: 0
# remedy: 7 -> if not values.is_contiguous(): -> breaks none
