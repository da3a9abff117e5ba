import copy
import torch
from torch import nn

student = nn.Linear(4, 4)
teacher = copy.deepcopy(student).requires_grad_(False)


@torch.compile(backend="eager")
def update_teacher(decay=0.99):
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.mul_(decay).add_(s, alpha=1 - decay)


@torch.compile(backend="eager")
def distill(x, T=2.0):
    with torch.no_grad():
        soft = (teacher(x) / T).softmax(-1)
    loss = nn.functional.kl_div((student(x) / T).log_softmax(-1), soft, reduction="batchmean")
    agreement = (soft.argmax(-1) == student(x).argmax(-1)).float().mean()
    if agreement == 1.0:  # breaks
        return loss * 0
    return loss


update_teacher()
distill(torch.randn(3, 4))
