import warnings

import torch
import torch.nn.functional as F

head = torch.nn.Conv2d(3, 4, 1)


@torch.compile
def dice_loss(image, target):
    logits = head(image)
    if logits.shape[-2:] != target.shape[-2:]:
        warnings.warn(f"logits of {tuple(logits.shape[-2:])} are resized")  # noqa: B028
        logits = F.interpolate(logits, size=target.shape[-2:], mode="bilinear")
    hot = F.one_hot(target, 4).permute(0, 3, 1, 2).to(logits.dtype)
    probability = logits.softmax(1)
    return 1 - (2 * (probability * hot).sum() / (probability.sum() + hot.sum()))


for scale in (1.0, 2.0, 3.0):
    with warnings.catch_warnings(record=True) as caught, torch.no_grad():
        warnings.simplefilter("always")
        loss = dice_loss(torch.ones(1, 3, 4, 4) * scale, torch.ones(1, 8, 8, dtype=torch.int64))
    for each in caught:
        print(each.category.__name__, each.message)
    print(round(loss.item(), 3))
# breaks: 13
# compiles: 2
# remedy: +7 -> torch._dynamo.config.reorderable_logging_functions.add(warnings.warn) -> breaks none
# remedy: +7 -> torch._dynamo.config.ignore_logging_functions.add(warnings.warn) -> breaks none -> silent
