import torch


def squared(x):
    return x * x


@torch.compile(backend="eager")
def train(x):
    loss = (x - 1).abs().sum()
    print("loss", loss)
    rest = squared(x)
    return loss + rest.sum()


print(train(torch.zeros(2)))
