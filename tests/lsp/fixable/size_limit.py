import torch
import torch._dynamo

torch._dynamo.config.automatic_dynamic_shapes = False


@torch.compile(backend="eager")
def f(x):
    return x + 1


for n in range(2, 14):
    x = torch.ones(n)
    y = f(x)
print(y.shape)
