"""A classifier that tokenizes its text itself, with a regular expression and a callback."""

import re

import torch
from torch import nn

WORD = re.compile(r"\w+|[!?]")


class TextClassifier(nn.Module):
    def __init__(self, buckets: int, width: int) -> None:
        super().__init__()
        self.embedding, self.head = nn.EmbeddingBag(buckets, width), nn.Linear(width, 2)
        self.buckets = buckets

    def tokens(self, text: str) -> torch.Tensor:
        words = [match.group().lower() for match in WORD.finditer(text)]
        return torch.tensor([[sum(map(ord, word)) % self.buckets for word in words]])

    def forward(self, text: str, scale: float) -> torch.Tensor:
        return (self.head(self.embedding(self.tokens(text))) * scale).softmax(-1)


torch.manual_seed(0)
classifier = TextClassifier(7, 4)
model = torch.compile(classifier, backend="eager")
with torch.no_grad():
    for text, scale in (("Graph breaks!", 1.0), ("why, oh why?", 1.0), ("fine", 2.0)):
        print(text, round(model(text, scale)[0, 0].item(), 5))
# breaks: 18 19
# compiles: 5
# remedy: 21 -> def forward(self, tokens: torch.Tensor, scale: float) -> torch.Tensor: && 22 -> return (self.head(self.embedding(tokens)) * scale).softmax(-1) && 30 -> print(text, round(model(classifier.tokens(text), scale)[0, 0].item(), 5)) -> breaks none
