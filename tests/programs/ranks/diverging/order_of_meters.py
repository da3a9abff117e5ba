"""One rank adds up its meters in another order: the sums of scalars are wrong, and nothing fails."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()
NAMES = ["loss", "hits", "entropy"] if rank == 0 else ["hits", "loss", "entropy"]


@compiled
def evaluate(logits, labels):
    log = logits.log_softmax(-1)
    meters = {
        "loss": -log.gather(1, labels[:, None]).sum(),
        "hits": (logits.argmax(-1) == labels).float().sum(),
        "entropy": -(log.exp() * log).sum(),
    }
    for name in NAMES:  # PARTS name is '
        dist.all_reduce(meters[name])
    return meters


end({name: each.item() for name, each in evaluate(torch.randn(6, 3), torch.randint(0, 3, (6,))).items()})
