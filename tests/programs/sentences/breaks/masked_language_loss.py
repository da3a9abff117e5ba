"""Cross entropy over the positions that are not padding, taken out with a boolean mask."""

import torch
from torch.nn import functional as F

PADDING = -100


@torch.compile
def masked_loss(logits: torch.Tensor, labels: torch.Tensor, smoothing: float) -> dict[str, torch.Tensor]:
    kept = labels != PADDING
    chosen, truth = logits[kept], labels[kept]
    loss = F.cross_entropy(chosen, truth, label_smoothing=smoothing)
    hits = (chosen.argmax(-1) == truth).float().mean()
    return {"loss": loss, "accuracy": hits}


torch.manual_seed(0)
for batch in range(3):
    logits, labels = torch.randn(2, 6, 5), torch.randint(0, 5, (2, 6))
    labels[:, 3 + batch :] = PADDING
    result = masked_loss(logits, labels, 0.1)
    print({name: round(value.item(), 4) for name, value in result.items()})
# breaks: 12
# compiles: 5
# remedy: -12 && 13 -> loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=smoothing, ignore_index=PADDING) && 14 -> hits = (logits.argmax(-1) == labels).sum() / kept.sum() -> breaks none
# remedy: +18 -> torch._dynamo.config.capture_dynamic_output_shape_ops = True -> breaks none
