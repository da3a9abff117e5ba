"""New words are added to an embedding between rounds."""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Parameter(torch.randn(words, width))

    def forward(self, tokens):
        return torch.softmax(self.embed[tokens] @ self.embed.t(), dim=-1)


torch.manual_seed(0)
tagger = Tagger(5, 3)
tag = torch.compile(tagger, backend="aot_eager")
tokens = torch.tensor([0, 3, 1])
for added in (0, 2, 3, 1):
    grown = torch.cat([tagger.embed.detach(), torch.randn(added, 3)])
    tagger.embed = nn.Parameter(grown)
    print(len(grown), tag(tokens).amax(dim=1).sum().item())

# function: Tagger.forward
# compiles: 4
# over: no
# next: setattr(tagger, "embed", nn.Parameter(torch.randn(17, 3))), tag(tokens)
# remedy: +18 -> torch._dynamo.config.force_parameter_static_shapes = False   -> compiles 2
# remedy: 18 -> tag = torch.compile(tagger, backend="aot_eager", dynamic=True)   -> compiles 4
# remedy: 22 -> tagger.embed = nn.Parameter(grown); torch._dynamo.maybe_mark_dynamic(tagger.embed, 0)   -> compiles 4
