"""A normalizer counts on its class how many batches all of its kind have seen."""

import torch


class Normalizer:
    seen = 0
    momentum = 0.1

    def __init__(self, width):
        self.mean = torch.zeros(width)

    @torch.compile
    def __call__(self, batch):
        rate = max(self.momentum, 1 / (Normalizer.seen + 1))
        self.mean = self.mean + rate * (batch.mean(dim=0) - self.mean)
        return batch - self.mean


torch.manual_seed(0)
normalizers = [Normalizer(3), Normalizer(3)]
for step in range(5):
    out = normalizers[step % 2](torch.randn(4, 3))
    Normalizer.seen += 1
    print(step, out.square().sum().item())

# function: Normalizer.__call__
# compiles: 5
# over: no
# next: setattr(Normalizer, "seen", 9), normalizers[0](torch.randn(4, 3))
# remedy: 15 -> rate = torch.clamp(1 / (Normalizer.seen + 1), min=self.momentum) && +13 -> seen = torch.zeros(())   -> compiles 1
# remedy: 13 -> @torch.compile(dynamic=True)   -> compiles 5
# remedy: +13 -> torch._dynamo.config.recompile_limit = 64   -> compiles 5
