import torch


@torch.compile(backend="eager")
def repeat(x, count):
    for _ in range(count.item()):
        x = x + 1
    return x


print(repeat(torch.zeros(2), torch.tensor(3)))
