"""A threshold comes from a file, where some are written without a point."""

import torch


@torch.compile
def soft_threshold(signal, threshold):
    return torch.sign(signal) * torch.relu(signal.abs() - threshold)


torch.manual_seed(0)
signal = torch.randn(8)
for line in ("0.5", "1", "0.25", "2", "0.75"):
    threshold = float(line) if "." in line else int(line)
    print(line, soft_threshold(signal, threshold).sum().item())

# function: soft_threshold
# compiles: 3
# over: yes
# next: soft_threshold(signal, 3)
# remedy: 14 -> threshold = torch.tensor(float(line))   -> compiles 1
# remedy: 14 -> threshold = float(line)   -> compiles 2
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
