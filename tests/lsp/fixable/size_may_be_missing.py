import torch


@torch.compile(backend="eager")
def score(x):
    return x.sin().sum()


for batch in (torch.ones(3), torch.ones(5), None, torch.ones(6)):
    value = score(batch) if batch is not None else torch.zeros(())
    known = batch is not None and score(batch)
    print(value, known)
