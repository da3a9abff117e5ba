import torch


@torch.compile(backend="aot_eager")
def reweigh(x):
    weight = x.square().mean().item()
    return (x * weight).sum()


x = torch.arange(3.0, requires_grad=True)
reweigh(x).backward()
print(x.grad)
