import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(4, 4)
        self.right = nn.Linear(4, 4)

    def forward(self, x):
        if x.mean() > 0:
            h = self.left(x)
        else:
            h = self.right(x)
        return h.relu().sum()


torch.manual_seed(0)
net = Experts()
fast = torch.compile(net, backend="aot_eager")
for sign in (1, -1):
    loss = fast(torch.ones(2, 4) * sign)
    loss.backward()
    print(round(loss.item(), 4))
print([p.grad is not None for p in net.parameters()])
