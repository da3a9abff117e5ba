import torch


@torch.compile(backend="eager")
def cell(x, index):
    row, column = divmod(index.item(), 4)
    return x[row, column]


print(cell(torch.arange(16.0).reshape(4, 4), torch.tensor(6)))
