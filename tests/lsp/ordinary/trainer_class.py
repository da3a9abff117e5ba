"""A trainer object whose method is compiled."""

import logging
import torch
from torch import nn

log = logging.getLogger("trainer")


class Trainer:
    def __init__(self, model, lr=0.1):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.steps = 0
        self.compiled = torch.compile(self.step, backend="eager")

    def step(self, batch):
        x, y = batch
        out = self.model(x)
        loss = (out - y).pow(2).mean()
        self.opt.zero_grad(set_to_none=True)  # breaks
        loss.backward()  # breaks
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        if torch.isnan(loss):  # breaks
            log.warning("loss is nan")
            return None
        self.opt.step()  # breaks
        self.steps += 1
        log.info("step %d: %f, norm %f", self.steps, loss, norm)  # breaks
        return loss.detach()


if __name__ == "__main__":
    trainer = Trainer(nn.Linear(4, 2))
    trainer.compiled((torch.randn(2, 4), torch.randn(2, 2)))
