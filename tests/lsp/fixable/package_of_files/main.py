import torch
from blocks.model import Model
from training import run

model = torch.compile(Model(), backend="eager")
print(run(model, [torch.ones(n, 2) for n in (2, 3, 5)], 0.5))
