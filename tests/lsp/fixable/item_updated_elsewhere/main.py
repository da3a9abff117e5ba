import torch
from counting import multiplied

fast = torch.compile(multiplied, backend="eager")
turns = torch.zeros((), dtype=torch.int64)
for _ in range(3):
    print(fast(torch.ones(2, dtype=torch.int64), turns))
