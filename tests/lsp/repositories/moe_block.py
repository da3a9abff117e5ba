import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, d, hidden):
        super().__init__()
        self.w1 = nn.Linear(d, hidden, bias=False)
        self.w2 = nn.Linear(hidden, d, bias=False)
        self.w3 = nn.Linear(d, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Router(nn.Module):
    def __init__(self, d, n_experts, top_k):
        super().__init__()
        self.gate = nn.Linear(d, n_experts, bias=False)
        self.top_k = top_k
        self.n_experts = n_experts

    def forward(self, x):
        scores = self.gate(x).softmax(-1)
        w, idx = scores.topk(self.top_k, dim=-1)
        return w / w.sum(-1, keepdim=True), idx


class SparseMoE(nn.Module):
    """Loop over experts, mixtral style."""

    def __init__(self, d=16, hidden=32, n_experts=3, top_k=2):
        super().__init__()
        self.router = Router(d, n_experts, top_k)
        self.experts = nn.ModuleList(Expert(d, hidden) for _ in range(n_experts))

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        w, idx = self.router(flat)
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            tok, slot = torch.where(idx == e)  # breaks
            out.index_add_(0, tok, expert(flat[tok]) * w[tok, slot, None])
        return out.view_as(x)


class GroupedMoE(SparseMoE):
    """Sort tokens by expert so each expert sees one contiguous slab."""

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        w, idx = self.router(flat)
        order = idx.view(-1).argsort(stable=True)
        counts = torch.bincount(idx.view(-1), minlength=self.router.n_experts)  # breaks
        sizes = counts.tolist()  # breaks
        slabs = flat[order // self.router.top_k].split(sizes)
        ys = [exp(s) for exp, s in zip(self.experts, slabs)]
        y = torch.cat(ys) * w.view(-1)[order, None]
        out = torch.zeros_like(flat).index_add(0, order // self.router.top_k, y)
        return out.view_as(x)


VARIANTS = {"sparse": SparseMoE, "grouped": GroupedMoE}


class Layer(nn.Module):
    def __init__(self, kind, d=16):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.ff = VARIANTS[kind](d)

    def forward(self, x):
        y = self.ff(self.norm(x))
        self.last_ratio = (y.norm() / x.norm()).item()  # breaks
        return x + y


def main():
    torch.manual_seed(0)
    for kind in VARIANTS:
        layer = Layer(kind)
        layer.compile(backend="eager")
        y = layer(torch.randn(2, 5, 16))
        y.sum().backward()
        print(kind, tuple(y.shape))


main()
