import torch


@torch.compile(backend="eager")
def switch(x, flag):
    on = bool(flag)
    return x + 1, on


print(switch(torch.ones(2), torch.tensor(True)))
