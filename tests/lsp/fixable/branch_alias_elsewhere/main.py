import torch
from limits import lowered

fast = torch.compile(lowered, backend="eager")
for peak in (2.0, 50.0):
    signal = torch.tensor([peak, 1.0])
    out = fast(signal)
    out += 3
    print(signal.tolist(), out.tolist())
