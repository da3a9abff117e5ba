"""A gate chooses which expert of a list computes."""

import torch


class Mixture(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.nn.Linear(8, 3)
        self.experts = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(3))

    def forward(self, x, scale):
        best = self.gate(x.mean(0)).argmax()
        y = self.experts[best](x)
        return (y * scale).sum()


torch.manual_seed(0)
net = torch.compile(Mixture())
for _ in range(3):
    print(round(net(torch.randn(4, 8), 2.0).item(), 4))
# breaks: 14
# compiles: 2
# remedy: 14 -> y = torch.stack([each(x) for each in self.experts]).index_select(0, best.reshape(1))[0] -> breaks none
