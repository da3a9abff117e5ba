"""Anchors are compared with candidates, of which there were as many at first."""

import torch


@torch.compile(backend="aot_eager", dynamic=True)
def contrast(anchors, candidates, temperature):
    left = torch.nn.functional.normalize(anchors, dim=-1)
    right = torch.nn.functional.normalize(candidates, dim=-1)
    logits = left @ right.t() / temperature
    return torch.nn.functional.cross_entropy(logits, torch.arange(anchors.shape[0]))


for rows, others in [(8, 8), (12, 12), (8, 16), (4, 9)]:
    print(round(contrast(torch.eye(rows, 20), torch.eye(others, 20), 0.5).item(), 4))

# function: contrast
# compiles: 2
# over: yes
# next: contrast(torch.eye(3, 20), torch.eye(7, 20), 0.5)
# remedy: +6 -> torch.fx.experimental._config.use_duck_shape = False   -> compiles 1
