import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
fast = torch.compile(net, backend="eager")
for n in (4, 6):
    x = torch.ones(n, 4)
    fast(x)
with torch.no_grad():
    for n in (3, 5): y = fast(torch.ones(n, 4))
print(y.shape)
