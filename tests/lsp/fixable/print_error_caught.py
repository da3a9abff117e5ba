import torch


@torch.compile(backend="eager", fullgraph=True)
def loud(x):
    print("hello")
    return x + 1


try:
    print(loud(torch.ones(2)))
except Exception as error:
    print(type(error).__name__)
