"""A loss that is written to a log at level info, with its value, every other step."""

import logging
import sys

import torch
from torch import nn

logging.basicConfig(stream=sys.stdout, format="%(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("train")
torch.manual_seed(0)
model = nn.Linear(3, 1)


@torch.compile
def loss_of(inputs: torch.Tensor, targets: torch.Tensor, step: int) -> torch.Tensor:
    loss = (model(inputs).squeeze(-1) - targets).square().mean()
    if step % 2 == 0:
        log.info("loss %.4f", loss.item())
    return loss + 0.01 * model.weight.abs().sum()


for step in range(4):
    loss = loss_of(torch.randn(4, 3), torch.ones(4), step)
    loss.backward()
    print(step, round(loss.item(), 4), round(model.weight.grad.norm().item(), 4))
# breaks: 19
# compiles: 6
# remedy: -18 && -19 && +25 -> if step % 2 == 0: log.info("loss %.4f", (loss - 0.01 * model.weight.abs().sum()).item()) -> breaks none
# remedy: +11 -> torch._dynamo.config.ignore_logging_functions.add(logging.Logger.info) && 19 -> log.info("loss %.4f", loss) -> breaks none -> silent
# remedy: +11 -> torch._dynamo.config.ignore_logging_functions.add(logging.Logger.info) -> breaks 19 -> silent
