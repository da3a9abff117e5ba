import torch


@torch.compile(backend="eager")
def truth(x):
    if x.sum():
        x = x + 5
    return x * 1


print(truth(torch.ones(2)), truth(torch.zeros(2)))
