"""Workers send their gradients by name, each in its own order."""

import torch


@torch.compile(backend="eager")
def combine(gradients, clip):
    flat = torch.cat([each.flatten() for each in gradients.values()])
    return flat.norm().clamp(max=clip)


torch.manual_seed(0)
gradients = {"embed": torch.randn(3), "attention": torch.randn(2, 2), "head": torch.randn(4)}
orders = [("embed", "attention", "head"), ("head", "embed", "attention"), ("attention", "head", "embed")]
for order in orders:
    received = {name: gradients[name] for name in order}
    print(order, combine(received, 10.0).item())

# function: combine
# compiles: 3
# over: no
# next: combine({name: gradients[name] for name in ("head", "attention", "embed")}, 10.0)
# remedy: 16 -> received = {name: gradients[name] for name in sorted(order)}   -> compiles 1
# remedy: 6 -> @torch.compile(backend="eager", dynamic=True)   -> compiles 3
