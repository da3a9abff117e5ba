"""Hosts with a slow link reduce their gradients as float16, by a hook of DistributedDataParallel (ranks: 3)."""

import torch
from job import compiled, end, start
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
link = {0: 100, 1: 100, 2: 10}[rank]

net = torch.nn.Linear(32, 8)
parallel = DistributedDataParallel(net)
if link < 25:  # PARTS link is 100 in rank
    parallel.register_comm_hook(None, fp16_compress_hook)
model = compiled(parallel)
for _ in range(3):
    loss = model(torch.ones(4, 32)).square().mean()
    loss.backward()
end(loss.item())
