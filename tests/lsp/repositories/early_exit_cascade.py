import typing as T
import torch
from torch import nn, Tensor


class ExitHead(nn.Module):
    def __init__(self, d, n):
        super().__init__()
        self.ln = nn.LayerNorm(d)
        self.fc = nn.Linear(d, n)

    def forward(self, x):
        return self.fc(self.ln(x))


class Policy:
    def should_exit(self, logits: Tensor, depth: int) -> bool:
        raise NotImplementedError


class EntropyPolicy(Policy):
    def __init__(self, thr):
        self.thr = thr

    def should_exit(self, logits, depth):
        p = logits.softmax(-1)
        ent = -(p * p.clamp(min=1e-9).log()).sum(-1).mean()
        return ent.item() < self.thr  # breaks


class PatiencePolicy(Policy):
    def __init__(self, patience):
        self.patience = patience
        self.streak = 0
        self.last: T.Optional[Tensor] = None

    def should_exit(self, logits, depth):
        pred = logits.argmax(-1)
        if self.last is not None and torch.equal(pred, self.last):  # breaks
            self.streak += 1
        else:
            self.streak = 0
        self.last = pred
        return self.streak >= self.patience


class Cascade(nn.Module):
    def __init__(self, d=12, n=4, depth=4, policy: Policy = None):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(d, d), nn.GELU()) for _ in range(depth)])
        self.exits = nn.ModuleList([ExitHead(d, n) for _ in range(depth)])
        self.policy = policy
        self.exit_counts = [0] * depth

    def _all_exits(self, x):
        outs = []
        for layer, head in zip(self.layers, self.exits):
            x = x + layer(x)
            outs.append(head(x))
        return torch.stack(outs)

    def _adaptive(self, x):
        logits = None
        for i, layer in enumerate(self.layers):
            x = x + layer(x)
            logits = self.exits[i](x)
            if self.policy.should_exit(logits, i):
                break
        self.exit_counts[i] += 1
        return logits

    def forward(self, x):
        if self.training or self.policy is None:
            return self._all_exits(x)
        return self._adaptive(x)


class Server:
    def __init__(self, model: Cascade):
        self.model = model
        self.model.compile(backend="eager")

    def train_once(self, x):
        self.model.train()
        self.model(x).mean().backward()
        return sum(p.grad.norm().item() for p in self.model.parameters() if p.grad is not None)

    @torch.no_grad()
    def serve(self, x):
        self.model.eval()
        return self.model(x).argmax(-1).tolist()


torch.manual_seed(0)
for pol in (EntropyPolicy(1.39), PatiencePolicy(1)):
    srv = Server(Cascade(policy=pol))
    print(srv.train_once(torch.randn(3, 12)), srv.serve(torch.randn(3, 12)), srv.model.exit_counts)
