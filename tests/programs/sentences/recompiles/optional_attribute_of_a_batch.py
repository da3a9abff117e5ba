"""A batch has a mask only where its collator made one."""

import torch


class Batch:
    def __init__(self, tokens, lengths=None):
        self.tokens = tokens
        if lengths is not None:
            self.mask = torch.arange(tokens.shape[1]) < lengths[:, None]


@torch.compile
def pool(batch, table):
    embedded = table[batch.tokens]
    if hasattr(batch, "mask"):
        embedded = embedded * batch.mask[..., None]
    return embedded.sum(dim=1)


torch.manual_seed(0)
table = torch.randn(9, 3)
for step in range(4):
    tokens = torch.randint(0, 9, (2, 5))
    lengths = torch.tensor([2, 4]) if step % 2 else None
    print(step, pool(Batch(tokens, lengths), table).sum().item())

# function: pool
# compiles: 2
# over: yes
# next: pool(Batch(tokens, torch.tensor([5, 1])), table)
# remedy: 25 -> lengths = torch.tensor([2, 4]) if step % 2 else torch.tensor([5, 5])   -> compiles 1
# remedy: 13 -> @torch.compile(dynamic=True)   -> compiles 2
