"""Refinement that prints before its loop and in it, so that what follows the first print is not compiled."""

import torch
from torch import nn

torch.manual_seed(0)


class Refine(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.start = nn.Linear(width, width)
        self.step = nn.Linear(width, width)

    def forward(self, features, rounds, rate):
        features = self.start(features)
        print("refines", tuple(features.shape))
        for number in range(rounds):
            features = features + rate * torch.tanh(self.step(features))
            print("round", number)
        return features


model = torch.compile(Refine())
for batch in (3, 3, 3):
    print(round(model(torch.randn(batch, 6), 2, 0.5).sum().item(), 4))
# breaks: 17 20
# compiles: 1
# remedy: +6 -> torch._dynamo.config.reorderable_logging_functions.add(print) -> breaks 17
