"""A classifier whose linear layers were quantized dynamically; their weights are packed objects."""

import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")


class Head(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(width), nn.Linear(width, 3)

    def forward(self, hidden: torch.Tensor, scale: float) -> torch.Tensor:
        logits = self.linear(self.norm(hidden) * scale)
        return logits.log_softmax(-1)


torch.manual_seed(0)
torch.backends.quantized.engine = "fbgemm"
quantized = torch.ao.quantization.quantize_dynamic(Head(4).eval(), {nn.Linear}, dtype=torch.qint8)
model = torch.compile(quantized, backend="eager")
with torch.no_grad():
    for scale in (1.0, 2.0, 0.5):
        print(scale, round(model(torch.randn(2, 4), scale).sum().item(), 3))
# breaks: 17
# compiles: 3
# best: none
