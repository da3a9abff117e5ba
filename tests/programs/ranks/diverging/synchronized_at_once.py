"""One rank synchronizes its gradients in each step, and the other in every second one."""

from contextlib import nullcontext

import torch
from job import BACKEND, end, start
from torch.nn.parallel import DistributedDataParallel

rank, _ = start()
config = {"accumulate": 2 if rank == 0 else 1}
net = torch.compile(
    torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.Linear(32, 3)), backend=BACKEND
)
model = DistributedDataParallel(net)
accumulate = config["accumulate"]
for step in range(4):
    is_last = (step + 1) % accumulate == 0  # PARTS accumulate is 2 in rank 0, and 1 in rank 1
    with nullcontext() if is_last else model.no_sync():
        loss = model(torch.ones(6, 8)).square().mean() / accumulate
        loss.backward()
    if is_last:
        model.zero_grad()
end(loss.item())
