"""A compiled evaluation that appends its metrics to a file, which is read at the end."""

import json
import os
import tempfile

import torch

torch.manual_seed(0)
path = os.path.join(tempfile.mkdtemp(), "metrics.jsonl")


def record(name: str, batch: int, size: int) -> None:
    with open(path, "a") as file:
        file.write(json.dumps({"name": name, "batch": batch, "size": size}) + "\n")


@torch.compile(backend="eager")
def evaluate(scores: torch.Tensor, labels: torch.Tensor, batch: int) -> torch.Tensor:
    hits = (scores.argmax(-1) == labels).float()
    record("accuracy", batch, scores.shape[0])
    return hits.mean() * 100


for batch in range(3):
    accuracy = evaluate(torch.randn(8, 3), torch.randint(0, 3, (8,)), batch)
    print(batch, accuracy.item())
with open(path) as file:
    print(file.read(), end="")
# breaks: 14
# compiles: 3
# remedy: -21 && 26 -> accuracy = evaluate(torch.randn(8, 3), torch.randint(0, 3, (8,)), batch); record("accuracy", batch, 8) -> breaks none
# remedy: +13 -> @torch.compiler.disable -> breaks 21
