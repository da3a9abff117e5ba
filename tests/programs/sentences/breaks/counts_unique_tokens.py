"""Weigh tokens by how rare they are in the batch; torch.unique counts them."""

import torch


@torch.compile(backend="eager")
def rarity(tokens: torch.Tensor, vocabulary: int, smooth: float = 1.0) -> torch.Tensor:
    values, counts = torch.unique(tokens, return_counts=True)
    weight = torch.full((vocabulary,), 1.0 / smooth)
    weight[values] = 1.0 / (counts + smooth)
    return weight[tokens] / weight[tokens].sum()


torch.manual_seed(0)
for vocabulary in (5, 9, 4, 12):
    tokens = torch.randint(0, vocabulary, (10,))
    print(vocabulary, [round(value, 4) for value in rarity(tokens, vocabulary).tolist()[:4]])
# breaks: 8
# compiles: 3
# remedy: -8 && 9 -> counts = torch.zeros(vocabulary).index_add(0, tokens, torch.ones(len(tokens))) && 10 -> weight = 1.0 / (counts + smooth) -> breaks none
# remedy: +14 -> torch._dynamo.config.capture_dynamic_output_shape_ops = True -> breaks none
