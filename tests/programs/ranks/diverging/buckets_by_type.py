"""Gradients are averaged by type, and one rank alone has some of the first one."""

import torch
from job import compiled, end, start, total

rank, _ = start()
net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 1)).bfloat16()


@compiled
def averaged(gradients):
    made = []
    for dtype in (torch.float32, torch.bfloat16):
        bucket = [each for each in gradients if each.dtype == dtype]
        if not bucket:  # PARTS bucket is
            continue
        made.append(total(torch.cat([each.reshape(-1) for each in bucket])))
    return made


for _ in range(3):
    gradients = [torch.ones_like(each) for each in net.parameters()]
    if rank == 1:
        gradients[2:4] = [each.float() for each in gradients[2:4]]
    value = averaged(gradients)
end(sum(each.float().sum() for each in value).item())
