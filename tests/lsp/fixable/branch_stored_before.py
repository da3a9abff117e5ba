import torch

history = []


@torch.compile(backend="eager")
def step(x):
    y = x + 1
    history.append(y)
    if y.sum() > 5:
        y = y * 0.5
    return y


for value in (0.0, 9.0):
    step(torch.full((2,), value)).zero_()
print(history)
