import torch
import torch.nn as nn


class FeatureExtractor:
    def __init__(self, model, names):
        self.feats = {}
        self.handles = []
        modules = dict(model.named_modules())
        for n in names:
            self.handles.append(modules[n].register_forward_hook(self.make_hook(n)))

    def make_hook(self, name):
        def hook(module, inputs, output):
            self.feats[name] = output.detach()
        return hook

    def close(self):
        for h in self.handles:
            h.remove()


def nan_guard(module, inputs, output):
    if torch.isnan(output).any():  # breaks
        raise RuntimeError(f"nan in {type(module).__name__}")


def sparsity_hook(module, inputs, output):
    frac = (output == 0).float().mean().item()  # breaks
    module.sparsity = frac


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 4, 3, padding=1)
        self.act = nn.ReLU()
        self.conv2 = nn.Conv1d(4, 2, 3, padding=1)

    def forward(self, x):
        x = self.conv1(x)
        x = self.act(x)
        x = self.conv2(x)
        return x.mean(-1)


net = Net()
net.act.register_forward_hook(sparsity_hook)
net.conv2.register_forward_hook(nan_guard)
fx = FeatureExtractor(net, ["conv1"])
cnet = torch.compile(net, backend="eager")

x = torch.randn(2, 1, 10)
out = cnet(x)
out.sum().backward()
print({k: tuple(v.shape) for k, v in fx.feats.items()}, net.act.sparsity)
fx.close()


def grad_penalty(x):
    x = x.clone()
    x.register_hook(lambda g: g * 0.5)
    return (x ** 2).sum()


gp = torch.compile(grad_penalty, backend="eager")
inp = torch.randn(4, requires_grad=True)
gp(inp).backward()
print(inp.grad)
