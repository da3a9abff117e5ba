import torch


@torch.compile(backend="eager")
def weigh(x, factor, names):
    if x.sum() > 0:
        x = x * factor + len(names)
    return x.sin()


print(weigh(torch.ones(3), 0.5, ["a", "b"]), weigh(-torch.ones(3), 0.5, ["a"]))
