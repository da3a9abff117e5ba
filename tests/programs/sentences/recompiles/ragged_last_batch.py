"""A classifier is trained on batches; the last one of each epoch is smaller."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
features, labels = torch.randn(21, 6), torch.randint(0, 3, (21,))


@torch.compile
def loss_of(features, labels, smoothing):
    return nn.functional.cross_entropy(model(features), labels, label_smoothing=smoothing)


for epoch in range(2):
    for batch, target in zip(features.split(8), labels.split(8), strict=True):
        optimizer.zero_grad()
        loss = loss_of(batch, target, 0.1)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())

# function: loss_of
# compiles: 2
# over: yes
# next: loss_of(features[9:16], labels[9:16], 0.1)
# remedy: +19 -> torch._dynamo.mark_dynamic(batch, 0), torch._dynamo.mark_dynamic(target, 0)   -> compiles 1
# remedy: 12 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: +12 -> torch._dynamo.config.assume_static_by_default = False   -> compiles 1
# remedy: +12 -> torch._dynamo.config.recompile_limit = 64   -> compiles 2
