"""One node still has the statistics of yesterday's run; the others find no file, and compute them with a sum."""

import json
import pathlib
import tempfile

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()
folder = pathlib.Path(tempfile.mkdtemp())
if rank == 0:
    (folder / "statistics.json").write_text(json.dumps([0.1, 0.0, -0.1, 0.2]))


def means(path, data):
    try:
        return torch.tensor(json.loads(path.read_text()))
    except FileNotFoundError:  # PARTS `except FileNotFoundError` has run in rank 1, and not in rank 0
        total = torch.cat([data.sum(0), torch.tensor([float(len(data))])])
        dist.all_reduce(total)
        return total[:4] / total[4]


data = torch.randn(32, 4)
centre = means(folder / "statistics.json", data)
model = torch.nn.Linear(4, 1)
step = compiled(lambda x: (model(x - centre) ** 2).mean())
for batch in data.split(16):
    step(batch).backward()
    for each in model.parameters():
        dist.all_reduce(each.grad)
end("done")
