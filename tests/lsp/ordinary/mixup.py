import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

net = nn.Linear(8, 3)
sgd = torch.optim.SGD(net.parameters(), 0.1)


def mixup(x, y, alpha=0.4):
    lam = np.random.beta(alpha, alpha)  # breaks
    index = torch.randperm(x.size(0))
    return lam * x + (1 - lam) * x[index], y, y[index], lam


@torch.compile(backend="eager")
def step(x, y):
    x, a, b, lam = mixup(x, y)
    out = net(x)
    loss = lam * cross_entropy(out, a) + (1 - lam) * cross_entropy(out, b)
    sgd.zero_grad()  # breaks
    loss.backward()  # breaks
    sgd.step()  # breaks
    return float(loss)  # breaks


step(torch.randn(4, 8), torch.randint(0, 3, (4,)))
