"""A curriculum: the module's max_len grows, and the sequences do, too."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 12)
        self.head = nn.Linear(12, 3)
        self.max_len = 8

    def forward(self, tokens):
        tokens = tokens[:, : self.max_len]
        return self.head(self.embed(tokens).mean(1))


torch.manual_seed(0)
model = Classifier()
compiled = torch.compile(model)
for stage in range(4):
    tokens = torch.randint(0, 50, (4, 20 + 3 * stage))
    with torch.no_grad():
        print(model.max_len, round(compiled(tokens).sum().item(), 4))
    model.max_len += 4

# function: Classifier.forward
# compiles: 4
# over: no
# next: torch.no_grad()(compiled)(torch.randint(0, 50, (4, 40)))
# remedy: +18 -> torch._dynamo.config.allow_unspec_int_on_nn_module = True && 21 -> compiled = torch.compile(model, dynamic=True)   -> compiles 1
# remedy: +18 -> torch._dynamo.config.allow_unspec_int_on_nn_module = True   -> compiles 2
# remedy: 21 -> compiled = torch.compile(model, dynamic=True)   -> compiles 4
