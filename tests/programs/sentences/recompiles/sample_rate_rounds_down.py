"""A resampler turns a rate into a whole number of samples."""

import torch


@torch.compile
def resample(signal, rate: float, gain):
    size = int(signal.shape[-1] * rate)
    return torch.nn.functional.interpolate(signal[None], size=size)[0] * gain


torch.manual_seed(0)
signal = torch.randn(1, 20)
for rate in (0.5, 0.75, 1.25, 0.9):
    print(rate, resample(signal, rate, 0.5).sum().item())

# function: resample
# compiles: 4
# over: no
# next: resample(signal, 0.6, 0.5)
# remedy: 8 -> size = rate && 15 -> print(rate, resample(signal, int(20 * rate), 0.5).sum().item())   -> compiles 2
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 4
# remedy: +6 -> torch._dynamo.config.capture_scalar_outputs = True   -> compiles 4
