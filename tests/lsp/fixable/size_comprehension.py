import torch

double = torch.compile(lambda x: x * 2, backend="eager")
print([double(torch.ones(n)).sum().item() for n in (2, 4, 6)])
