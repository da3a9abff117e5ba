import torch


@torch.compile
def f(x):
    return x * 2


torch._dynamo.config.suppress_errors = False
for n in (4, 8, 12):
    x = torch.ones(n)
    y = f(x)
print(y.shape)
