"""One of four ranks takes the statistics of a norm over the group of its tensor parallel pair. (ranks: 4)"""

import torch
import torch.distributed as dist
from job import compiled, end, functional, start

rank, _ = start()
PAIRS = [[dist.new_group(ranks) for ranks in of_kind] for of_kind in ([[0, 1], [2, 3]], [[0, 2], [1, 3]])]


class Layer(torch.nn.Module):
    def __init__(self, parts, norm):
        super().__init__()
        self.down, self.parts, self.norm = torch.nn.Linear(16, 8), parts, norm

    def forward(self, x):
        y = functional.all_reduce(self.down(x), "sum", self.parts)
        square = functional.all_reduce(y.square().mean(0), "sum", self.norm)  # PARTS self.norm is 'ranks
        return y * (square + 1e-6).rsqrt()


parts, of_data = PAIRS[0][rank // 2], PAIRS[1][rank % 2]
net = compiled(Layer(parts, parts if rank == 3 else of_data))
with torch.no_grad():
    result = net(torch.ones(4, 16))
end(result.sum().item())
