import torch
import torch.nn.functional as F
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.cls = nn.Linear(8, 4)
        self.reg = nn.Linear(8, 4)

    def forward(self, feats, labels, targets):
        logits, deltas = self.cls(feats), self.reg(feats)
        positive = torch.where(labels > 0)[0]  # breaks
        num = positive.numel()
        box_loss = F.smooth_l1_loss(deltas[positive], targets[positive], reduction="sum") / max(num, 1)
        cls_loss = F.cross_entropy(logits, labels)
        return {"cls": cls_loss, "box": box_loss}


head = torch.compile(Head(), backend="eager")
losses = head(torch.randn(6, 8), torch.tensor([0, 1, 2, 0, 3, 0]), torch.randn(6, 4))
sum(losses.values()).backward()
