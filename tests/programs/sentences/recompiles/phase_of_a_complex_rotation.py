"""A signal is mixed down with a complex factor for each carrier."""

import cmath

import torch


@torch.compile(backend="eager")
def mix(signal, factor, gain):
    return (signal * factor).real * gain


torch.manual_seed(0)
signal = torch.randn(4, dtype=torch.complex64)
for carrier in range(4):
    factor = cmath.exp(1j * carrier)
    print(carrier, mix(signal, factor, 0.5).sum().item())

# function: mix
# compiles: 4
# over: no
# next: mix(signal, cmath.exp(0.3j), 0.5)
# remedy: 16 -> factor = torch.tensor(cmath.exp(1j * carrier))   -> compiles 1
# remedy: 8 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 4
# remedy: +8 -> torch._dynamo.config.recompile_limit = 64   -> compiles 4
