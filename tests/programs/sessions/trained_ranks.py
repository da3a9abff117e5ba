"""Ranks train a model under DistributedDataParallel for two steps, and print a digest of its gradients."""

import hashlib

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Linear(16, 1)

    def forward(self, x):
        y = self.up(x).relu()  #: forward
        return self.down(y).pow(2).mean()


model = Model()
wrapped = torch.nn.parallel.DistributedDataParallel(model)
wrapped.compile(backend="aot_eager")
digest = hashlib.sha256()
for step in range(2):
    wrapped(torch.full((4, 8), float(rank + step + 1))).backward()
    for each in model.parameters():
        digest.update(each.grad.numpy().tobytes())
print(f"rank {rank} gradients {digest.hexdigest()}\n", end="", flush=True)
dist.barrier()
dist.destroy_process_group()
