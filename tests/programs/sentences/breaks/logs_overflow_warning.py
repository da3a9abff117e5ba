"""A loss scaler whose compiled step logs a warning before it returns the unscaled gradients."""

import logging
import sys

import torch

logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(message)s", level=logging.WARNING)
log = logging.getLogger("scaler")
torch.manual_seed(0)


@torch.compile(backend="eager")
def unscale(grads: dict[str, torch.Tensor], scale: float, step: int) -> dict[str, torch.Tensor]:
    if scale > 512:
        log.warning("scale %s is high in step %d", scale, step)
    return {name: grad / scale for name, grad in grads.items()}


for step, scale in enumerate((256.0, 1024.0, 2048.0, 128.0)):
    grads = {"weight": torch.randn(2, 3) * scale, "bias": torch.randn(3) * scale}
    result = unscale(grads, scale, step)
    print(step, {name: round(grad.sum().item(), 4) for name, grad in result.items()})
# breaks: 16
# compiles: 5
# remedy: -15 && -16 && +22 -> if scale > 512: log.warning("scale %s is high in step %d", scale, step) -> breaks none
# remedy: +10 -> torch._dynamo.config.ignore_logging_functions.add(logging.Logger.warning) -> breaks none -> silent
