"""Methods of modules, a recompile with dynamic shapes, and inheritance."""

import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)  # stop: Block.forward [0/0] x2 | x=f32[2, 4]; Block.forward [0/1] x2
        return y.relu()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])

    @staticmethod
    def scale(x):
        return x * 3  # stop: Model.scale [0/0]; Model.scale [0/1]

    @property
    def factor(self):
        return 2  # stop: Model.factor [0/0]; Model.factor [0/1]

    def forward(self, x):
        for block in self.blocks:
            x = block(x)  # stop: Model.forward [0/0] x2; Model.forward [0/1] x2
        return self.scale(x) * self.factor


def main():
    model = torch.compile(Model(), backend="eager")
    model(torch.randn(2, 4))
    model(torch.randn(2, 4))
    model(torch.randn(3, 4))


if __name__ == "__main__":
    main()
