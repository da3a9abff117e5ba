"""Detections of a frame are merged; some frames have none, or one."""

import torch


@torch.compile
def merge(boxes, scores, shrink):
    weights = torch.softmax(scores, dim=0)[:, None]
    return (boxes * weights).sum(dim=0) * shrink


torch.manual_seed(0)
for found in (3, 0, 5, 1, 7):
    boxes, scores = torch.rand(found, 4), torch.rand(found)
    print(found, merge(boxes, scores, 0.9).sum().item())

# function: merge
# compiles: 4
# over: yes
# next: merge(torch.rand(6, 4), torch.rand(6), 0.9)
# remedy: +15 -> torch._dynamo.decorators.mark_unbacked(boxes, 0), torch._dynamo.decorators.mark_unbacked(scores, 0)   -> compiles 1
# remedy: +15 -> torch._dynamo.maybe_mark_dynamic(boxes, 0), torch._dynamo.maybe_mark_dynamic(scores, 0)   -> compiles 3
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 3
# remedy: +6 -> torch._dynamo.config.recompile_limit = 64   -> compiles 4
