"""A server pads each request to its own length, and never to a few fixed ones."""

import torch
from torch import nn

torch._dynamo.config.automatic_dynamic_shapes = False
torch._dynamo.config.recompile_limit = 4


class Scorer(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.out = nn.Linear(width, 1)

    def forward(self, tokens):
        return self.out(self.embed(tokens).mean(dim=1))


torch.manual_seed(0)
scorer = Scorer(11, 4)
serve = torch.compile(scorer)
for length in (3, 9, 4, 7, 6, 5):
    tokens = torch.arange(2 * length).reshape(2, length) % 11
    print(length, serve(tokens).detach().flatten().tolist())

# function: Scorer.forward
# compiles: 4
# over: yes
# next: serve(torch.ones(2, 8, dtype=torch.long))
# limit: reached
# remedy: 22 -> serve = torch.compile(scorer, dynamic=True)   -> compiles 1
# remedy: +25 -> torch._dynamo.mark_dynamic(tokens, 1)   -> compiles 1
# remedy: 6 -> torch._dynamo.config.automatic_dynamic_shapes = True   -> compiles 2
# remedy: 7 -> torch._dynamo.config.recompile_limit = 32   -> compiles 6
