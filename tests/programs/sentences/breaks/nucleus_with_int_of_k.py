"""Sample greedily from the most likely tokens; how many there are is a tensor that becomes an int."""

import torch


@torch.compile(backend="eager")
def filtered(logits: torch.Tensor, mass: float, penalty: dict[str, float]) -> torch.Tensor:
    probabilities = (logits / penalty["temperature"]).softmax(-1)
    ordered = probabilities.sort(descending=True).values
    kept = int((ordered.cumsum(-1) < mass).sum()) + 1
    values = torch.topk(probabilities, kept).values
    floor = values[-1]
    return torch.where(probabilities >= floor, probabilities, 0.0)


torch.manual_seed(0)
for mass in (0.3, 0.6, 0.9, 0.95):
    weights = filtered(torch.randn(12) * 2, mass, {"temperature": 0.8})
    print(mass, int(weights.argmax()), int((weights > 0).sum()), round(weights.sum().item(), 4))
# breaks: 10
# compiles: 4
# remedy: 10 -> kept = (ordered.cumsum(-1) < mass).sum() && 11 -> values = ordered && 12 -> floor = values.gather(0, kept[None]) -> breaks none
# remedy: +16 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
