"""A pipeline of two stages with a schedule of torch; each stage is compiled."""

import torch
from job import compiled, end, start
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

rank, size = start()
torch.manual_seed(0)


class First(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x).relu()


class Second(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(8, 8), torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.b(self.a(x).relu())


module = First() if rank == 0 else Second()
stage = PipelineStage(compiled(module), rank, size, torch.device("cpu"))
schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=lambda out, target: (out - target).pow(2).mean())
for _ in range(2):
    if rank == 0:
        schedule.step(torch.ones(4, 8))
        result = 0.0
    else:
        losses = []
        schedule.step(target=torch.zeros(4, 2), losses=losses)
        result = round(sum(each.item() for each in losses), 4)
end(result)
