import torch


@torch.compile(backend="eager")
def f(x, training):
    return x * 2 if training else x


for flag in (True, False):
    y = f(torch.ones(2), flag)
print(y)
