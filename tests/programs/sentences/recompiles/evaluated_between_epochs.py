"""Training has a short last batch; validation has other sizes."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(8, 16)
        self.norm = nn.BatchNorm1d(16)
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        return self.out(torch.relu(self.norm(self.hidden(x))))


torch.manual_seed(0)
model = Classifier()
fast = torch.compile(model, backend="aot_eager")
for sizes, train in (([32, 32, 20], True), ([64, 50], False)) * 2:
    model.train(train)
    total = 0.0
    for size in sizes:
        x = torch.randn(size, 8)
        total += fast(x).sum().item()
    print(train, round(total, 4))

# function: Classifier.forward
# compiles: 3
# over: yes
# next: fast(torch.randn(7, 8))
# remedy: 26 -> torch._dynamo.maybe_mark_dynamic(x, 0); total += fast(x).sum().item()   -> compiles 2
# remedy: 20 -> fast = torch.compile(model, backend="aot_eager", dynamic=True)   -> compiles 2
