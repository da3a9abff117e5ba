"""Images of several sizes, each second one with its channels last, are scaled by a half; Inductor bounds scaled sizes."""

import torch


@torch.compile
def pooled(image):
    return torch.nn.functional.interpolate(image, scale_factor=0.5, mode="bilinear").mean((2, 3))


torch.manual_seed(0)
for number, size in enumerate((64, 96, 128, 160)):
    image = torch.full((2, 3, size, size), 0.5)
    if number % 2:
        image = image.contiguous(memory_format=torch.channels_last)
    print(round(pooled(image).sum().item(), 3))

# function: pooled
# compiles: 4
# over: yes
# next: pooled(torch.ones(2, 3, 80, 80).contiguous(memory_format=torch.channels_last))
# remedy: 16 -> print(round(pooled(torch._dynamo.maybe_mark_dynamic(image := image.contiguous(), 2) or torch._dynamo.maybe_mark_dynamic(image, 3) or image).sum().item(), 3))   -> compiles 2
