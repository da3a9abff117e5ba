"""Of two groups with activations of their own, one rank reduces its auxiliary loss more often."""

# (ranks: 4)
import torch
import torch.distributed as dist
from job import compiled, end, start, total

rank, _ = start()
groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]


class Block(torch.nn.Module):
    every = 4

    def __init__(self, activation, group):
        super().__init__()
        self.activation, self.group = activation, group
        self.linear = torch.nn.Linear(6, 6)

    def forward(self, x, step):
        hidden = torch.relu(self.linear(x)) if self.activation == "relu" else self.linear(x).tanh()
        loss = hidden.square().mean()
        if step % self.every == 0:  # PARTS every is
            loss = total(loss, group=self.group)
        return total(hidden, group=self.group), loss


if rank == 3:
    Block.every = 1
block = compiled(Block("relu" if rank < 2 else "tanh", groups[rank // 2]))
for step in range(4):
    hidden, loss = block(torch.ones(2 + rank // 2, 6), step)
end(hidden.sum().item())
