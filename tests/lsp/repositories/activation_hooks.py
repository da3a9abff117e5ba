from collections import OrderedDict, defaultdict
import torch
import torch.nn as nn


class ActivationStats:
    """collects simple stats of the activations through forward hooks"""

    def __init__(self, max_val=50.0):
        self.stats = defaultdict(list)
        self.handles = []
        self.max_val = max_val

    def attach(self, model, kinds=(nn.Linear,)):
        for name, m in model.named_modules():
            if isinstance(m, kinds):
                self.handles.append(m.register_forward_hook(self._hook(name)))
        return self

    def _hook(self, name):
        def fn(mod, inp, out):
            self.stats[name].append(out.detach().abs().mean().item())  # breaks
            if out.abs().max() > self.max_val:  # breaks
                print(f"[{name}] activation overflow")
        return fn

    def detach(self):
        for h in self.handles:
            h.remove()
        self.handles.clear()


class LoRA(nn.Module):
    def __init__(self, base, r=2):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(r, base.in_features) * 0.01)
        self.b = nn.Parameter(torch.zeros(base.out_features, r))
        self.merged = False

    def forward(self, x):
        y = self.base(x)
        return y if self.merged else y + x @ self.a.T @ self.b.T


def mlp(*dims):
    mods = OrderedDict()
    for i, (a, b) in enumerate(zip(dims, dims[1:])):
        mods[f"fc{i}"] = LoRA(nn.Linear(a, b))
        if i < len(dims) - 2:
            mods[f"act{i}"] = nn.ReLU()
    return nn.Sequential(mods)


def evaluate(model, x):
    with torch.no_grad():
        return model(x).mean().item()


torch.manual_seed(0)
net = mlp(4, 8, 8, 2)
probe = ActivationStats(max_val=0.2).attach(net)
cnet = torch.compile(net, backend="eager")
out = cnet(torch.randn(3, 4))
out.sum().backward()
print({k: len(v) for k, v in probe.stats.items()})
probe.detach()
print(evaluate(cnet, torch.randn(3, 4)))
