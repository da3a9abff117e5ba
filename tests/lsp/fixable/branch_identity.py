import torch


def repaired(x):
    if torch.isinf(x).any():
        x = torch.nan_to_num(x)
    return x


@torch.compile(backend="eager")
def check(x):
    y = repaired(x)
    return y


for x in (torch.ones(2), torch.tensor([1.0, float("inf")])):
    print(check(x) is x)
