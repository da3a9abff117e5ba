import torch


@torch.compile(backend="eager")
def loud(x):
    print("begin")
    y = x + 1
    print("end")
    return y


print(loud(torch.ones(2)))
