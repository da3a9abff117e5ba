"""Attention weights of sentences of several lengths, the last of them with a mask."""

import torch


@torch.compile
def attend(query, key, scale, mask=None):
    scores = query @ key.transpose(-1, -2) * scale
    if mask is not None:
        scores = scores.masked_fill(mask, -1e4)
    return scores.softmax(-1)


torch.manual_seed(0)
key = torch.randn(2, 5, 8)
for words in (6, 9, 7):
    print(words, attend(torch.randn(2, words, 8), key, 0.3)[0, 0, 0].round(decimals=4).item())
print(attend(torch.randn(2, 7, 8), key, 0.3, torch.rand(2, 7, 5) > 0.8).sum().round().item())

# function: attend
# compiles: 3
# over: no
# next: attend(torch.randn(2, 11, 8), key, 0.3, torch.rand(2, 11, 5) > 0.8)
# remedy: 17 -> query = torch.randn(2, words, 8); torch._dynamo.maybe_mark_dynamic(query, 1); print(words, attend(query, key, 0.3)[0, 0, 0].round(decimals=4).item())   -> compiles 2
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
