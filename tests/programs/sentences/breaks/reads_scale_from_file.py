"""A dequantizer that reads its scales from a file on every forward."""

import json
import pathlib
import tempfile

import torch
from torch import nn


class Dequantize(nn.Module):
    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.path = path
        self.zero = nn.Parameter(torch.tensor(3.0))

    def forward(self, codes: torch.Tensor, layer: str) -> torch.Tensor:
        shifted = codes - self.zero
        scales = json.loads(self.path.read_text())
        return shifted * scales[layer]


torch.manual_seed(0)
path = pathlib.Path(tempfile.mkdtemp()) / "scales.json"
path.write_text(json.dumps({"up": 0.5, "down": 0.25}))
dequantize = torch.compile(Dequantize(path), backend="eager")
for layer in ("up", "down", "up"):
    print(layer, round(dequantize(torch.randint(0, 8, (4,)), layer).sum().item(), 4))
# breaks: 19
# compiles: 4
# remedy: +15 -> self.scales = json.loads(path.read_text()) && -19 && 20 -> return shifted * self.scales[layer] -> breaks none
