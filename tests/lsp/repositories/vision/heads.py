import logging
import torch
import torch.nn as nn
from zoo import head

logger = logging.getLogger("heads")


class HeadBase(nn.Module):
    def __init__(self, cin):
        super().__init__()
        self.cin = cin

    def losses(self, out, target):
        raise NotImplementedError


@head("cls")
class ClsHead(HeadBase):
    def __init__(self, cin, classes=3, label_smoothing=0.0):
        super().__init__(cin)
        self.fc = nn.Linear(cin, classes)
        self.ls = label_smoothing

    def forward(self, tokens):
        return self.fc(tokens[:, 0])

    def losses(self, out, target):
        valid = target["label"] >= 0
        if not valid.all():  # breaks
            logger.debug("ignoring %d samples", (~valid).sum())  # breaks
            out, lab = out[valid], target["label"][valid]  # breaks
        else:
            lab = target["label"]
        return nn.functional.cross_entropy(out, lab, label_smoothing=self.ls)


@head("count")
class CountHead(HeadBase):
    def __init__(self, cin):
        super().__init__(cin)
        self.fc = nn.Linear(cin, 1)

    def forward(self, tokens):
        return self.fc(tokens.mean(1)).squeeze(-1).exp()

    def losses(self, out, target):
        return nn.functional.poisson_nll_loss(out, target["count"], log_input=False)
