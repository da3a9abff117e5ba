import torch


@torch.compile(backend="eager")
def evaluate(x):
    loss = (x - 1).square().mean()
    return loss.item()


print(type(evaluate(torch.zeros(3))).__name__)
