"""A template method in a base class; the subclass fills it in."""

import torch
from torch import nn


class Base(nn.Module):
    def forward(self, x):
        x = self.prepare(x)
        return self.body(x)

    def prepare(self, x):
        print("default preparation")
        return x

    def body(self, x):
        raise NotImplementedError


class Mine(Base):
    def prepare(self, x):
        return x - x.mean()

    def body(self, x):
        return x.tanh()


class Trainer:
    def __init__(self, model):
        self.model = model
        self.run = torch.compile(self.run, backend="eager")

    def run(self, x):
        self.report(x)
        return self.model(x)

    def report(self, x):
        print("step", x.shape)


class QuietTrainer(Trainer):
    def report(self, x):
        pass


if __name__ == "__main__":
    QuietTrainer(Mine()).run(torch.ones(3))
    torch.compile(Mine(), backend="eager")(torch.ones(3))
