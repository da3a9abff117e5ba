"""A recurrence is unrolled over the time steps of its sequence."""

import torch


@torch.compile(backend="eager")
def run_filter(signal, coefficient, initial):
    state, out = initial, []
    for t in range(signal.shape[0]):
        state = coefficient * state + signal[t]
        out.append(state)
    return torch.stack(out)


torch.manual_seed(0)
coefficient, initial = torch.tensor(0.5), torch.zeros(3)
for length in (3, 5, 4, 7):
    signal = torch.randn(length, 3)
    print(length, run_filter(signal, coefficient, initial).sum().item())

# function: run_filter
# compiles: 4
# over: no
# next: run_filter(torch.randn(6, 3), coefficient, initial)
# remedy: 19 -> print(length, run_filter(torch.cat([signal, signal.new_zeros(8 - length, 3)]), coefficient, initial)[:length].sum().item())   -> compiles 1
# remedy: 6 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 4
# remedy: +19 -> torch._dynamo.maybe_mark_dynamic(signal, 0)   -> compiles 4
