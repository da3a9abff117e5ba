import torch
import torch.nn as nn

torch.manual_seed(0)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.pos = nn.Linear(3, 3)
        self.neg = nn.Linear(3, 3)

    def forward(self, x):
        if x.mean() > 0:
            y = self.pos(x)
        else:
            y = self.neg(x)
        return y.sum()


net = TwoHeads()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
f = torch.compile(net, backend="eager")
for i in range(4):
    opt.zero_grad()
    f(torch.full((2, 3), 1.0 if i % 2 == 0 else -1.0)).backward()
    opt.step()
print(round(net.pos.weight.sum().item(), 4), round(net.neg.weight.sum().item(), 4))
