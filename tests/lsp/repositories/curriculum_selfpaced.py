import torch
import torch.nn as nn

# self paced learning: easy samples first


class StepCounter:
    def __init__(self):
        self.value = 0

    def tick(self):
        self.value += 1
        return self.value


class SelfPaced(object):
    def __init__(self, lam0=0.5, growth=1.1):
        self.lam = lam0
        self.growth = growth
        self.counter = StepCounter()
        self.kept = []

    def weights(self, losses):
        w = (losses < self.lam).float()
        if w.sum() == 0:  # breaks
            k = max(1, losses.numel() // 4)
            w = torch.zeros_like(losses).scatter_(0, losses.topk(k, largest=False).indices, 1.0)
        return w

    def __call__(self, losses):
        w = self.weights(losses.detach())
        self.kept.append(w.mean())
        self.lam *= self.growth
        self.counter.tick()
        return (w * losses).sum() / w.sum().clamp(min=1)


class HardMiner(SelfPaced):
    """keeps everything above the running quantile instead"""

    def weights(self, losses):
        q = torch.quantile(losses, 0.75)
        assert q >= 0, "negative loss"
        return torch.where(losses >= q, 1.0, 0.0)


def trainer(model, policy, verbose=False):
    crit = nn.CrossEntropyLoss(reduction='none')

    @torch.compile(backend='eager', dynamic=False)
    def step(x, y):
        losses = crit(model(x), y)
        total = policy(losses)
        if verbose:
            print('weighted', total)  # breaks
        return total

    def loop(batches):
        opt = torch.optim.SGD(model.parameters(), 0.1)
        for x, y in batches:
            loss = step(x, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        return torch.stack(policy.kept).tolist()

    return loop


def data(n):
    for _ in range(n):
        yield torch.randn(8, 5), torch.randint(0, 3, (8,))


if __name__ == '__main__':
    torch.manual_seed(0)
    for policy, verbose in ((SelfPaced(lam0=0.01), False), (HardMiner(), True)):
        net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3))
        print(type(policy).__name__, trainer(net, policy, verbose)(data(2)), policy.counter.value)
