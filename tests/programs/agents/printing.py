import torch


@torch.compile
def step(x):
    y = x * 2
    print("mean of a step")
    return y + 1


for n in range(3):
    out = step(torch.ones(4) * n)
print(out.sum().item())
