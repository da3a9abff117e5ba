import json
import os
import tempfile
import torch
from torch import nn

model = nn.Linear(4, 2)
path = os.path.join(tempfile.mkdtemp(), "log.jsonl")


def record(entry):
    with open(path, "a") as f:  # breaks
        f.write(json.dumps(entry) + "\n")


@torch.compile(backend="eager")
def run(x, step):
    out = model(x)
    record({"step": step})
    return out.sum()


@torch.compile(backend="eager")
def save_best(x, best=0.5):
    score = model(x).mean()
    if score > best:  # breaks
        torch.save(model.state_dict(), path + ".pt")
    return score


run(torch.randn(2, 4), 1)
save_best(torch.randn(2, 4))
