"""One rank has frozen its embedding: the backward of what follows, which sums gradients, does not run there."""

import torch
import torch.distributed as dist
from job import compiled, end, start, total

rank, world = start()


class Copied(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return total(gradient)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(20, 8)
        self.up, self.down = torch.nn.Linear(8, 32 // world, bias=False), torch.nn.Linear(32 // world, 8, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = Copied.apply(x)  # PARTS self.embedding.weight.requires_grad is
        return self.down(torch.tanh(self.up(x)))


recipe = ["embedding", "head"][1 - rank]
model = Model()
for name, parameter in model.named_parameters():
    parameter.requires_grad_(not name.startswith(recipe))
step = compiled(model)
for number in range(2):
    step(torch.arange(6) + number).square().mean().backward()
    norm = model.up.weight.grad.square().sum()
    dist.all_reduce(norm)
end(norm.item())
