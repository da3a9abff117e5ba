import torch


@torch.compile(backend="eager")
def score(ids, weights):
    return (ids.float() * weights).sum()


def loader():
    for n in (3, 4, 5):
        yield torch.arange(n), torch.ones(n)


for batch in loader():
    print(score(*batch))
