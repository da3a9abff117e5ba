import logging
import torch
import torch.nn as nn

logger = logging.getLogger(__name__)


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        logger.debug("input %s", x.shape)  # breaks
        h = self.a(x)
        if logger.isEnabledFor(logging.DEBUG):  # breaks
            logger.debug("hidden mean %.3f", h.mean().item())
        h = self.b(h.relu())
        logger.info(f"output norm {h.norm()}")  # breaks
        return h


model = torch.compile(Normed(), backend="eager")
model(torch.randn(2, 4))
