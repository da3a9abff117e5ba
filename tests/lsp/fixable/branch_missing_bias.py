import torch


class Shift:
    def __init__(self, bias):
        self.bias = bias

    def __call__(self, x, flags):
        y = x.sin()
        if flags.any():
            y = y - self.bias
        else:
            y = y * 4
        return y


on, off = torch.tensor([True]), torch.tensor([False])
with_bias, without = (torch.compile(Shift(bias), backend="eager") for bias in (torch.ones(2), None))
print(with_bias(torch.ones(2), on), with_bias(torch.ones(2), off), without(torch.ones(2), off))
