import torch
from torch import nn


class Scorer(nn.Module):
    def forward(self, x):
        return x.sin()


def neural():
    net = torch.compile(Scorer(), backend="eager")
    for n in (3, 5, 7):
        x = torch.ones(n)
        y = net(x)
        print(y.shape)


def words():
    net = sorted
    letters = ["b", "a"]
    found = net(letters)
    print(found)


neural()
words()
