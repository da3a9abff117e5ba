import torch


@torch.compile(backend="eager")
def rounded(x):
    if x.max() > 3:
        x = x.to(torch.int64)
    else:
        x = x * 1.5
    return x


print(rounded(torch.tensor([4.7])).dtype, rounded(torch.tensor([1.0])).dtype)
