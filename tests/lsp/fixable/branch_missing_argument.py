import torch


@torch.compile(backend="eager")
def shifted(x, bias, flags):
    y = x.sin()
    if flags.any():
        y = y - bias
    else:
        y = y * 4
    return y


on, off = torch.tensor([True]), torch.tensor([False])
print(shifted(torch.ones(2), torch.ones(2), on), shifted(torch.ones(2), None, off))
