import torch


@torch.compile(backend="eager")
def gate(x, threshold):
    if threshold > 0.5:
        s = x.sum() * 2
    else:
        s = x.sum() * 3
    return s


print(gate(torch.ones(2), torch.tensor([0.7])).shape, gate(torch.ones(2), torch.tensor([0.2])))
