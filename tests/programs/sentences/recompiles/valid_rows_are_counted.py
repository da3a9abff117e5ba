"""The number of valid rows is read out of an integer mask, and slices the batch."""

import torch


@torch.compile
def mean_of_first(rows, mask, bias):
    count = mask.sum().item()
    return rows[:count].sum(dim=0) / count + bias


torch.manual_seed(0)
rows, bias = torch.randn(9, 3), torch.ones(3)
for valid in (2, 5, 3, 7):
    mask = torch.arange(9) < valid
    print(valid, mean_of_first(rows, mask, bias).sum().item())

# function: torch_dynamo_resume_in_mean_of_first_at_8
# compiles: 2
# over: yes
# next: mean_of_first(rows, torch.arange(9) < 6, bias)
# remedy: +6 -> torch._dynamo.config.capture_scalar_outputs = True   -> compiles 0
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: +16 -> torch._dynamo.maybe_mark_dynamic(mask, 0)   -> compiles 2
