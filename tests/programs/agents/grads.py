import torch


@torch.compile(backend="eager")
def loss(x):
    return (x * x).sum()


w = torch.ones(3, requires_grad=True)
for x in (w, torch.ones(3)):
    print(loss(x).item())
