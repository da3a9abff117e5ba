"""Each task of a suite brings a prompt length and a name of its own."""

import torch
from torch import nn

torch._dynamo.config.recompile_limit = 4


class Prompted(nn.Module):
    def __init__(self, prompts):
        super().__init__()
        self.prompts = nn.ParameterDict(prompts)
        self.out = nn.Linear(3, 2)

    def forward(self, x, task):
        prompt = self.prompts[task]
        return self.out(torch.cat([prompt, x])).mean(dim=0)


torch.manual_seed(0)
names = ["parse", "rank", "sum", "tag", "vote", "warn"]
model = Prompted({name: torch.randn(index + 2, 3) for index, name in enumerate(names)})
compiled = torch.compile(model)
x = torch.randn(4, 3)
with torch.no_grad():
    for name in names:
        print(name, compiled(x, name).sum().item())

# function: Prompted.forward
# compiles: 4
# over: yes
# next: with torch.no_grad(): model.prompts.update({"late": torch.randn(9, 3)}), compiled(x, "late")
# limit: reached
# remedy: 16 -> prompt = task && 27 -> print(name, compiled(x, model.prompts[name].detach()).sum().item())   -> compiles 2
# remedy: 16 -> prompt = task && 27 -> print(name, compiled(x, model.prompts[name]).sum().item())   -> compiles 4
# remedy: 23 -> compiled = torch.compile(model, dynamic=True)   -> compiles 4
# remedy: 6 -> torch._dynamo.config.recompile_limit = 64   -> compiles 6
