import torch


def f(x):
    return x.cos()


fast = torch.compile(f, backend="eager")
inputs = [torch.ones(n) for n in (3, 5, 7)]
for each in inputs: out = fast(each)
print(out)
