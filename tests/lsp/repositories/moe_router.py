import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.w1 = nn.Linear(d, h, bias=False)
        self.w2 = nn.Linear(h, d, bias=False)
        self.w3 = nn.Linear(d, h, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class SparseMoE(nn.Module):
    def __init__(self, d=8, h=16, num_experts=3, top_k=2):
        super().__init__()
        self.top_k = top_k
        self.gate = nn.Linear(d, num_experts, bias=False)
        self.experts = nn.ModuleList(Expert(d, h) for _ in range(num_experts))

    def route(self, x):
        probs = self.gate(x).softmax(-1)
        w, sel = torch.topk(probs, self.top_k, dim=-1)
        return w / w.sum(-1, keepdim=True), sel, probs

    def forward(self, x):
        B, T, C = x.shape
        flat = x.view(-1, C)
        w, sel, probs = self.route(flat)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            tok, slot = torch.where(sel == i)  # breaks
            if tok.numel() == 0:
                continue
            out.index_add_(0, tok, expert(flat[tok]) * w[tok, slot, None])
        aux = self.load_balance(probs, sel)
        return out.view(B, T, C), aux

    def load_balance(self, probs, sel):
        E = len(self.experts)
        frac = F.one_hot(sel, E).float().sum(1).mean(0)
        return E * (frac * probs.mean(0)).sum()


class MoEBlock(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.norm = nn.RMSNorm(d)
        self.moe = SparseMoE(d)

    def forward(self, x):
        y, aux = self.moe(self.norm(x))
        return x + y, aux


class MoEModel(nn.Module):
    def __init__(self, n_layers=2, d=8):
        super().__init__()
        self.layers = nn.ModuleList([MoEBlock(d) for _ in range(n_layers)])

    def forward(self, x):
        total_aux = 0.0
        for layer in self.layers:
            x, aux = layer(x)
            total_aux = total_aux + aux
        return x, total_aux


if __name__ == "__main__":
    torch.manual_seed(0)
    model = MoEModel()
    for layer in model.layers:
        layer.compile(backend="eager")
    y, aux = model(torch.randn(2, 5, 8))
    (y.mean() + 0.01 * aux).backward()
    print(y.shape, aux.item())
