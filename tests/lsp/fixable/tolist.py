import torch


@torch.compile(backend="eager")
def weights(x):
    a, b = x.softmax(0).tolist()
    return x * a + b


print(weights(torch.zeros(2)))
