"""A beam search prunes its beams, down to one."""

import torch


@torch.compile
def extend(scores, logits, penalty):
    total = scores[:, None] + torch.log_softmax(logits, dim=-1)
    return (total - penalty).max(dim=-1)


torch.manual_seed(0)
scores = torch.zeros(6)
for kept in (6, 4, 3, 2, 1):
    scores = scores.sort(descending=True).values[:kept]
    logits = torch.randn(kept, 5)
    scores, tokens = extend(scores, logits, 0.25)
    print(kept, scores.sum().item(), tokens.tolist())

# function: extend
# compiles: 3
# over: yes
# next: extend(torch.zeros(5), torch.randn(5, 5), 0.25)
# remedy: +17 -> torch._dynamo.decorators.mark_unbacked(scores, 0), torch._dynamo.decorators.mark_unbacked(logits, 0)   -> compiles 1
# remedy: +17 -> torch._dynamo.maybe_mark_dynamic(scores, 0), torch._dynamo.maybe_mark_dynamic(logits, 0)   -> compiles 2
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 3
# remedy: +17 -> torch._dynamo.mark_dynamic(logits, 1)   -> compiles 3
