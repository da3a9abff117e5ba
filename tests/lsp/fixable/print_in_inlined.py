import torch


def log(message, value):
    print(message, value)


@torch.compile(backend="eager")
def show(x):
    log("before", x)
    y = x * 2
    log("after", y)
    return y


print(show(torch.ones(2)))
