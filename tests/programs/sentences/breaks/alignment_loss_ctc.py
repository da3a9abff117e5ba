"""A CTC loss with lengths as tensors on top of a small acoustic model."""

import torch
from torch import nn


class Recognizer(nn.Module):
    def __init__(self, features: int, labels: int) -> None:
        super().__init__()
        self.project = nn.Linear(features, labels)
        self.loss = nn.CTCLoss(blank=0, zero_infinity=True)

    def forward(self, frames: torch.Tensor, text: torch.Tensor, sizes: dict[str, torch.Tensor]) -> torch.Tensor:
        scores = self.project(frames).log_softmax(-1).transpose(0, 1)
        longest = sizes["frames"].max().item()
        return self.loss(scores[:longest], text, sizes["frames"], sizes["text"])


torch.manual_seed(0)
model = Recognizer(3, 5)
compiled = torch.compile(model)
for frames in (10, 8, 9):
    sizes = {"frames": torch.tensor([frames, 6]), "text": torch.tensor([3, 2])}
    text = torch.randint(1, 5, (2, 3))
    loss = compiled(torch.randn(2, 10, 3), text, sizes)
    loss.backward()
    print(frames, round(loss.item(), 4), round(model.project.weight.grad.abs().sum().item(), 4))
# breaks: 15 16
# compiles: 3
# remedy: -15 && 16 -> return scores && 25 -> loss = model.loss(compiled(torch.randn(2, 10, 3), text, sizes), text, *sizes.values()) -> breaks none
# remedy: -15 && 16 -> return self.loss(scores, text, sizes["frames"], sizes["text"]) -> breaks 16
