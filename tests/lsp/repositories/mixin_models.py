import torch
import torch.nn as nn


class SanityMixin:
    check_inputs = True

    def validate(self, x):
        if self.check_inputs:
            assert x.dim() == 2, "expected (B, D)"
            if torch.any(torch.isnan(x)):  # breaks
                raise ValueError("NaN in input")


class StatsMixin:
    def init_stats(self):
        self.calls = 0
        self.running = []

    def record(self, x):
        self.calls += 1
        self.running.append(x.detach().mean().item())  # breaks


class Base(SanityMixin, nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lin = nn.Linear(d, d)

    @property
    def scale(self):
        return self.lin.in_features ** -0.5

    def pre(self, x):
        self.validate(x)
        return x * self.scale

    def forward(self, x):
        return self.lin(self.pre(x))


class Unchecked(Base):
    check_inputs = False

    def forward(self, x):
        return torch.relu(super().forward(x))


class Gated(StatsMixin, Base):
    def __init__(self, d):
        super().__init__(d)
        self.gate = nn.Parameter(torch.zeros(d))
        self.init_stats()

    def forward(self, x):
        y = super().forward(x)
        self.record(y)
        return x + torch.sigmoid(self.gate) * y


def compile_model(model, enabled=True, **kw):
    if not enabled:
        return model
    kw.setdefault("backend", "eager")
    return torch.compile(model, **kw)


x = torch.randn(3, 6)
m1 = compile_model(Unchecked(6))
m2 = compile_model(Gated(6))
m3 = compile_model(Base(6), enabled=False)
print(m1(x).shape, m2(x).shape, m3(x).shape)
(m1(x) + m2(x)).sum().backward()
print(m2._orig_mod.calls, m2._orig_mod.running)
