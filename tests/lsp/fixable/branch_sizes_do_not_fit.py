import torch


@torch.compile(backend="eager")
def biased(x, bias):
    y = x * 2
    if bias.sum() > 0:
        y = y + bias
    else:
        y = y - 1
    return y


print(biased(torch.ones(3), torch.ones(3)), biased(torch.ones(5), -torch.ones(3)), biased(torch.ones(7), -torch.ones(3)))
