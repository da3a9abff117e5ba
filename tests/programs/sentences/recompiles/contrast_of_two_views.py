"""A contrastive loss of two views, of which batches of two sizes come, with a temperature that changes once."""

import torch


@torch.compile
def contrast(first, second, temperature):
    logits = first @ second.t() / temperature
    return torch.logsumexp(logits, 1).mean() - logits.diagonal().mean()


torch.manual_seed(0)
for rows, temperature in ((8, 0.5), (8, 0.5), (12, 0.5), (16, 0.5)):
    first, second = torch.randn(rows, 4), torch.randn(rows, 4)
    print(rows, round(contrast(first, second, temperature).item(), 4))

# function: contrast
# compiles: 2
# over: yes
# next: contrast(torch.randn(18, 4), torch.randn(18, 4), 0.5)
# remedy: +15 -> torch._dynamo.maybe_mark_dynamic(first, 0); torch._dynamo.maybe_mark_dynamic(second, 0)   -> compiles 1
