from dataclasses import dataclass, field
from typing import List, Tuple

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class MoEArgs:
    dim: int = 16
    hidden: int = 32
    n_experts: int = 4
    top_k: int = 2
    aux_weight: float = 0.01
    compile_layers: List[int] = field(default_factory=lambda: [0, 1])


class Expert(nn.Module):
    def __init__(self, a: MoEArgs):
        super().__init__()
        self.w1 = nn.Linear(a.dim, a.hidden, bias=False)
        self.w2 = nn.Linear(a.hidden, a.dim, bias=False)
        self.w3 = nn.Linear(a.dim, a.hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Router(nn.Module):
    def __init__(self, a: MoEArgs):
        super().__init__()
        self.k = a.top_k
        self.n = a.n_experts
        self.gate = nn.Linear(a.dim, a.n_experts, bias=False)

    def forward(self, x) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        p = self.gate(x).softmax(-1)
        w, idx = p.topk(self.k, dim=-1)
        w = w / w.sum(-1, keepdim=True)
        load = F.one_hot(idx, self.n).float().mean((0, 1))
        aux = self.n * (load * p.mean(0)).sum()
        return w, idx, aux


class SparseMoE(nn.Module):
    def __init__(self, a: MoEArgs):
        super().__init__()
        self.router = Router(a)
        self.experts = nn.ModuleList([Expert(a) for _ in range(a.n_experts)])
        self.aux_loss = None

    def forward(self, x):
        shape = x.shape
        x = x.view(-1, shape[-1])
        w, idx, self.aux_loss = self.router(x)
        self.tokens_per_expert = torch.bincount(idx.flatten(), minlength=len(self.experts)).tolist()  # breaks
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            tok, slot = torch.where(idx == e)  # breaks
            if tok.numel() == 0:
                continue
            out.index_add_(0, tok, expert(x[tok]) * w[tok, slot, None])
        return out.view(shape)


class Layer(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.norm = nn.LayerNorm(a.dim)
        self.moe = SparseMoE(a)

    def forward(self, x):
        return x + self.moe(self.norm(x))


class Net(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.layers = nn.ModuleList([Layer(a) for _ in range(2)])
        self.a = a

    def forward(self, x):
        for l in self.layers:
            x = l(x)
        aux = sum(l.moe.aux_loss for l in self.layers)
        return x, aux * self.a.aux_weight


args = MoEArgs()
net = Net(args)
for i in args.compile_layers:
    net.layers[i].compile(backend="eager")
y, aux = net(torch.randn(2, 6, 16))
(y.mean() + aux).backward()
print(y.shape, aux.item())
