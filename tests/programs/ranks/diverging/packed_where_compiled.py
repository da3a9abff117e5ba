"""Two sums are packed into one where they are compiled; a rank reaches its limit of compiles, and reduces each."""

import torch
import torch._dynamo.config
import torch.distributed as dist
from job import compiled, end, start, total

rank, _ = start()
torch._dynamo.config.recompile_limit = 8 if rank == 0 else 2


@compiled(dynamic=False)
def normalized(frames):
    mean, square = frames.mean(0), frames.square().mean(0)
    if torch.compiler.is_compiling():  # PARTS `torch.compiler.is_compiling()` is true in rank 0, and false in rank 1
        mean, square = total(torch.cat([mean, square])).chunk(2)
    else:
        dist.all_reduce(mean)
        dist.all_reduce(square)
    return (frames - mean) * (square + 1e-5).rsqrt()


for length in (16, 12, 10):
    result = normalized(torch.ones(length, 6))
end(result.sum().item())
