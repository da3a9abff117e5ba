"""A learning rate warms up over the first steps: the number of the step is compared, and one compile fits the start."""

import torch


@torch.compile
def schedule_step(p, g, step, lr=0.1):
    if step < 3:
        lr = lr * step / 3
    return p - lr * g


torch.manual_seed(0)
p = torch.ones(10)
for step in range(1, 8):
    p = schedule_step(p, torch.full((10,), 0.5), step)
    print(round(p.sum().item(), 4))

# function: schedule_step
# compiles: 3
# over: yes
# next: schedule_step(torch.ones(10), torch.ones(10), 9)
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
