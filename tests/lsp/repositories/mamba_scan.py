import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    from selective_scan_cuda import fwd as scan_cuda  # optional kernel
except ImportError:
    scan_cuda = None


@torch.compiler.disable
def selective_scan_ref(u, delta, A, B, C, D):
    """slow reference recurrence"""
    bsz, dim, L = u.shape
    h = u.new_zeros(bsz, dim, A.shape[1])
    ys = []
    for t in range(L):
        dA = torch.exp(delta[:, :, t, None] * A)
        h = dA * h + delta[:, :, t, None] * B[:, None, :, t] * u[:, :, t, None]
        ys.append((h * C[:, None, :, t]).sum(-1))
    return torch.stack(ys, -1) + u * D[:, None]


def selective_scan_log(u, delta, A, B, C, D):
    # parallel form, only stable on short sequences
    la = (delta.unsqueeze(2) * A[None, :, :, None]).cumsum(-1)
    bu = (delta * u).unsqueeze(2) * B.unsqueeze(1)
    h = torch.exp(la) * (bu * torch.exp(-la)).cumsum(-1)
    return (h * C.unsqueeze(1)).sum(2) + u * D[:, None]


def get_scan(kind):
    if kind == "cuda" and scan_cuda is not None:
        return scan_cuda
    return {"ref": selective_scan_ref, "log": selective_scan_log}[kind]


class Mamba(nn.Module):
    def __init__(self, d_model=8, d_state=4, expand=2, scan="log", layer_idx=None):
        super().__init__()
        self.d_inner = expand * d_model
        self.d_state = d_state
        self.layer_idx = layer_idx
        self.in_proj = nn.Linear(d_model, 2 * self.d_inner, bias=False)
        self.conv1d = nn.Conv1d(self.d_inner, self.d_inner, 4, groups=self.d_inner, padding=3)
        self.x_proj = nn.Linear(self.d_inner, 2 * d_state + self.d_inner, bias=False)
        self.A_log = nn.Parameter(torch.log(torch.arange(1, d_state + 1).float()).repeat(self.d_inner, 1))
        self.D = nn.Parameter(torch.ones(self.d_inner))
        self.out_proj = nn.Linear(self.d_inner, d_model, bias=False)
        self.scan = get_scan(scan)

    def forward(self, x):
        L = x.shape[1]
        u, z = self.in_proj(x).transpose(1, 2).chunk(2, dim=1)
        u = F.silu(self.conv1d(u)[..., :L])
        p = self.x_proj(u.transpose(1, 2)).transpose(1, 2)
        delta, B, C = p.split([self.d_inner, self.d_state, self.d_state], dim=1)
        y = self.scan(u, F.softplus(delta), -torch.exp(self.A_log), B, C, self.D)  # breaks
        return self.out_proj((y * F.silu(z)).transpose(1, 2))


class Stack(nn.Module):
    def __init__(self, kinds=("log", "ref")):
        super().__init__()
        self.layers = nn.ModuleList([Mamba(scan=k, layer_idx=i) for i, k in enumerate(kinds)])
        self.norms = nn.ModuleList([nn.LayerNorm(8) for _ in kinds])
        self.trace_file = os.environ.get("MAMBA_TRACE")

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = x + layer(norm(x))
            if self.trace_file:
                torch.save(x, self.trace_file + f".{layer.layer_idx}")
        return self.finalize(x)

    def finalize(self, x):
        torch._dynamo.graph_break()  # breaks
        x = F.layer_norm(x, x.shape[-1:]) * math.sqrt(x.shape[-1])
        if x.abs().max() > 1e3:  # breaks
            raise OverflowError(f"activations exploded: {x.abs().max()}")
        return x


net = torch.compile(Stack(), backend="eager")
out = net(torch.randn(2, 6, 8))
out.sum().backward()
print(out.shape)
