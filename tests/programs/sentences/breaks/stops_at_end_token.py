"""Greedy decoding in a compiled loop that stops at the end token and returns a list of ints."""

import torch
from torch import nn

END = 5


class Decoder(nn.Module):
    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(vocabulary, width), nn.Linear(width, vocabulary)

    def step(self, token: torch.Tensor, penalty: float) -> torch.Tensor:
        logits = self.head(self.embedding(token)).scatter_add(1, token[:, None], torch.full((1, 1), -penalty))
        return logits.argmax(-1)

    def generate(self, token: torch.Tensor, penalty: float, limit: int) -> list[int]:
        generated = []
        for _ in range(limit):
            token = self.step(token, penalty)
            generated.append(token.item())
            if generated[-1] == END:
                break
        return generated


torch.manual_seed(0)
decoder = Decoder(6, 4)
generate = torch.compile(decoder.generate)
with torch.no_grad():
    for first, penalty in ((0, 0.0), (1, 5.0), (4, 5.0)):
        print(first, generate(torch.tensor([first]), penalty, 5))
# breaks: 22
# compiles: 2
# remedy: +14 -> @torch.compile && 30 -> generate = decoder.generate -> breaks none
