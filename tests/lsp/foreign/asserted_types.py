"""isinstance, match, walrus, unpacking, comprehensions."""

import torch


@torch.compile(backend="eager")
def f(batch):
    if isinstance(batch, dict):
        x = batch["x"]
    elif isinstance(batch, (list, tuple)):
        x = batch[0]
    else:
        x = batch
    match x.ndim:
        case 1:
            y = x
        case _:
            print("many dimensions")
            y = x.flatten()
    if (n := y.shape[0]) > 10:
        print("long", n)
    first, *rest = y.unbind(0)
    big = [t for t in rest if t.shape == first.shape]
    named = {k: v.sum() for k, v in {"a": x}.items()}
    return first + len(big) + named["a"]


@torch.compile(backend="eager")
def g(xs, flags):
    kept = [x for x, flag in zip(xs, flags) if flag]
    total = sum(kept)
    positive = [x for x in kept if x.sum() > 0]  # breaks
    return total, positive


@torch.compile(backend="eager")
def h(x, mode):
    match mode:
        case "mean":
            value = x.mean()
        case "count":
            value = x.numel()
        case _:
            value = torch.zeros(())
    if mode == "count" and value > 2:
        return x
    return x + value


if __name__ == "__main__":
    f({"x": torch.ones(3)})
    g([torch.ones(2), torch.ones(2)], [True, False])
    h(torch.ones(3), "count")
