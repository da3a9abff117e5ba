"""An ensemble averages as many predictions as there are."""

import torch


@torch.compile
def average(*predictions, sharpen=1.0):
    mean = sum(predictions) / len(predictions)
    return torch.softmax(mean * sharpen, dim=-1)


torch.manual_seed(0)
predictions = [torch.randn(2, 3) for _ in range(6)]
for members in (2, 3, 4, 5):
    out = average(*predictions[:members], sharpen=2.0)
    print(members, out.amax(dim=1).sum().item())

# function: average
# compiles: 4
# over: no
# next: average(*predictions, sharpen=2.0)
# remedy: 15 -> out = average(torch.stack(predictions[:members]).mean(dim=0), sharpen=2.0)   -> compiles 1
# remedy: 15 -> out = average(torch.stack(predictions[:members]), sharpen=2.0) && 8 -> mean = predictions[0].mean(dim=0)   -> compiles 2
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 4
