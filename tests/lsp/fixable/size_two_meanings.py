import torch


def f(x):
    return x * 2


fast = torch.compile(f, backend="eager")
for n in (3, 5, 7):
    x = torch.ones(n)
    y = fast(x)
print(y)
fast = len
x = "abc"
y = fast(x)
print(y)
