"""A projection that asserts that its weights are a distribution, and shows them if not."""

import torch


def projected(weights: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    assert torch.isclose(weights.sum(), torch.ones(())), f"weights sum to {weights.sum()}"
    return weights @ values


@torch.compile
def attend(scores: torch.Tensor, values: torch.Tensor, temperature: float) -> torch.Tensor:
    mixed = projected((scores / temperature).softmax(-1), values)
    return mixed / mixed.norm()


torch.manual_seed(0)
for temperature in (0.1, 1.0, 10.0):
    print(temperature, [round(value, 4) for value in attend(torch.randn(4), torch.randn(4, 2), temperature).tolist()])
# breaks: 7
# compiles: 5
# remedy: 7 -> assert torch.isclose(weights.sum(), torch.ones(())), "weights do not sum to one" -> breaks none
# remedy: 7 -> torch._assert_async(torch.isclose(weights.sum(), torch.ones(())), "weights do not sum to one") -> breaks none
