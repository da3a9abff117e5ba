import torch


def descend(weight, slope):
    weight.sub_(0.5 * slope)


@torch.compile(backend="eager")
def train(weight, x):
    slope = weight * x
    print("weight", weight)
    descend(weight, slope)
    return weight.sum()


weight = torch.ones(2)
for _ in range(2):
    print(train(weight, torch.ones(2)))
