"""Scale a signal by the mean of each chunk, gathered as floats in a comprehension."""

import torch


@torch.compile
def leveled(signal: torch.Tensor, chunks: int, floor: float) -> torch.Tensor:
    parts = (signal * 0.5).chunk(chunks)
    levels = [max(float(part.abs().mean()), floor) for part in parts]
    return torch.cat([part / level for part, level in zip(parts, levels, strict=True)])


torch.manual_seed(0)
for chunks, floor in ((2, 0.1), (3, 0.1), (2, 0.5)):
    print(chunks, floor, round(leveled(torch.randn(12), chunks, floor).abs().sum().item(), 4))
# breaks: 9
# compiles: 6
# remedy: 9 -> levels = [part.abs().mean().clamp(min=floor) for part in parts] -> breaks none
# remedy: +13 -> torch._dynamo.config.capture_scalar_outputs = True -> breaks none
