"""Walk over windows of a signal with a generator, until one of them is silent."""

from collections.abc import Iterator

import torch


def windows(signal: torch.Tensor, size: int, silence: float) -> Iterator[torch.Tensor]:
    for start in range(0, signal.shape[-1] - size + 1, size):
        window = signal[..., start : start + size]
        if window.abs().max() < silence:
            return
        yield window


@torch.compile(backend="eager")
def energy(signal: torch.Tensor, size: int, silence: float) -> torch.Tensor:
    total = torch.zeros(())
    for window in windows(signal, size, silence):
        total = total + window.square().mean()
    return total / size


torch.manual_seed(0)
for silence in (0.0, 0.5, 0.5):
    signal = torch.randn(12)
    signal[8:] *= silence
    print(silence, round(energy(signal, 4, silence).item(), 5))
# breaks: 11
# compiles: 0
# remedy: -11 && -12 && +19 -> alive = torch.tensor(True) && 20 -> alive = alive & (window.abs().max() >= silence); total = total + torch.where(alive, window.square().mean(), 0.0) -> breaks none
