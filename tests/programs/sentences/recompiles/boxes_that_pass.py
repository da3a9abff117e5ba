"""Boxes above a threshold are kept, and their areas summed."""

import torch


@torch.compile
def areas_above(boxes, scores, threshold):
    kept = boxes[scores > threshold]
    return (kept[:, 2] * kept[:, 3]).cumsum(dim=0)


torch.manual_seed(0)
boxes = torch.rand(12, 4)
for wanted in (3, 6, 4, 9):
    scores = (torch.arange(12) < wanted).float()
    areas = areas_above(boxes, scores, 0.5)
    print(len(areas), areas[-1].item())

# function: torch_dynamo_resume_in_areas_above_at_8
# compiles: 2
# over: yes
# next: areas_above(boxes, (torch.arange(12) < 5).float(), 0.5)
# remedy: +6 -> torch._dynamo.config.capture_dynamic_output_shape_ops = True   -> compiles 0
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
