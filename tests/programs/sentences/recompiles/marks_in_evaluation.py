"""Only the batches of the evaluation have sizes that are marked as dynamic."""

import torch

weight = torch.ones(5)


@torch.compile
def predict(x, scale, bias):
    return torch.nn.functional.gelu(x * scale + bias) @ weight


def batches(sizes, is_training):
    for size in sizes:
        x = torch.full((size, 5), 0.5)
        if not is_training:
            torch._dynamo.mark_dynamic(x, 0)
        yield x


for is_training in (True, False, True, False):
    for x in batches([8, 8] if is_training else [8, 6, 8], is_training):
        print(len(x), round(predict(x, 0.5, 1.0).sum().item(), 3))

# function: predict
# compiles: 2
# over: yes
# next: predict(torch.ones(8, 5), 0.5, 1.0)
# remedy: 16 ->         if True:   -> compiles 1
