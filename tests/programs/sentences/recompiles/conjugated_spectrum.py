"""A correlation is computed against a spectrum, and against its conjugate."""

import torch


@torch.compile(backend="aot_eager")
def correlate(spectrum, template, scale):
    return (spectrum * template).abs().sum(dim=-1) * scale


torch.manual_seed(0)
spectrum, template = torch.fft.rfft(torch.randn(2, 6)), torch.fft.rfft(torch.randn(6))
for lag in range(4):
    other = template.conj() if lag % 2 else template
    print(lag, correlate(spectrum, other, 0.5).sum().item())

# function: correlate
# compiles: 2
# over: yes
# next: correlate(spectrum, torch.fft.rfft(torch.ones(6)).conj(), 0.5)
# remedy: 14 -> other = template.conj().resolve_conj() if lag % 2 else template   -> compiles 1
# remedy: 14 -> other = template.conj().contiguous() if lag % 2 else template   -> compiles 2
# remedy: 6 -> @torch.compile(backend="aot_eager", dynamic=True)   -> compiles 2
