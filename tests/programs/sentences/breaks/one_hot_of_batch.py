"""Label smoothing over a one-hot encoding that finds the number of classes itself."""

import torch
from torch.nn import functional as F


@torch.compile(backend="aot_eager")
def smoothed(logits: torch.Tensor, labels: torch.Tensor, amount: float, *, reduce: str = "mean") -> torch.Tensor:
    classes = logits.shape[-1]
    target = F.one_hot(labels).float() * (1 - amount) + amount / classes
    losses = -(target * logits.log_softmax(-1)).sum(-1)
    return losses.mean() if reduce == "mean" else losses.sum()


torch.manual_seed(0)
for classes, reduce in ((4, "mean"), (4, "sum"), (3, "mean")):
    labels = torch.arange(classes).repeat(2)
    print(classes, reduce, round(smoothed(torch.randn(2 * classes, classes), labels, 0.1, reduce=reduce).item(), 4))
# breaks: 10
# compiles: 5
# remedy: 10 -> target = F.one_hot(labels, classes).float() * (1 - amount) + amount / classes -> breaks none
# remedy: 10 -> target = (labels[:, None] == torch.arange(classes)).float() * (1 - amount) + amount / classes -> breaks none
