"""A mean teacher that is copied from the student every few steps in the compiled update."""

import copy

import torch
from torch import nn


class Trainer:
    def __init__(self, student: nn.Module, every: int, decay: float) -> None:
        self.student, self.teacher = student, copy.deepcopy(student)
        self.every, self.decay = every, decay

    def consistency(self, inputs: torch.Tensor, step: int) -> torch.Tensor:
        if step % self.every == 0:
            self.teacher = copy.deepcopy(self.student)
        target = self.teacher(inputs).detach() * self.decay
        return (self.student(inputs + 0.1) - target).square().mean()


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(3, 3), nn.Tanh()), every=2, decay=0.9)
consistency = torch.compile(trainer.consistency, backend="eager")
for step in range(4):
    loss = consistency(torch.randn(2, 3), step)
    print(step, round(loss.item(), 5))
    with torch.no_grad():
        for weight in trainer.student.parameters():
            weight.add_(0.05)
# breaks: 16
# compiles: 7
# remedy: -15 && -16 && +25 -> if step % trainer.every == 0: trainer.teacher.load_state_dict(trainer.student.state_dict()) -> breaks none
