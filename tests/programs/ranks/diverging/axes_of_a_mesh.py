"""One rank names the axes of its mesh the other way round: it adds up in the group of another axis."""

# (ranks: 4)
import torch
import torch.distributed._functional_collectives as functional
from job import compiled, end, start
from torch.distributed.device_mesh import init_device_mesh

rank, _ = start()
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("rows", "columns") if rank != 3 else ("columns", "rows"))


@compiled
def combine(x):
    return functional.all_reduce(x * 2, "sum", mesh["columns"]) + 1  # PARTS all_reduce(sum) of f32[4]


end(combine(torch.ones(4)).sum().item())
