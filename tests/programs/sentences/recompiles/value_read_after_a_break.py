"""The count of valid tokens is read out of a tensor, and used from there on."""

import torch


@torch.compile
def mean_of_valid(embeddings, mask, bias):
    count = int(mask.sum().item())
    return (embeddings * mask[:, None]).sum(dim=0) / count + bias


torch.manual_seed(0)
embeddings, bias = torch.randn(8, 3), torch.zeros(3)
for valid in (2, 5, 3, 7):
    mask = (torch.arange(8) < valid).float()
    print(valid, mean_of_valid(embeddings, mask, bias).sum().item())

# function: torch_dynamo_resume_in_mean_of_valid_at_8
# compiles: 4
# over: no
# next: mean_of_valid(embeddings, (torch.arange(8) < 6).float(), bias)
# remedy: 8 -> count = mask.sum()   -> compiles 0
# remedy: +6 -> torch._dynamo.config.capture_scalar_outputs = True   -> compiles 0
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 4
