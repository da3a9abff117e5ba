import logging
import math
import re
from typing import Dict, Iterable, List, Optional

import torch
import torch.nn as nn

log = logging.getLogger("lora")


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int = 4, alpha: float = 8.0, dropout: float = 0.0) -> None:
        super().__init__()
        self.base = base
        self.base.weight.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scaling = alpha / r
        self.dropout = nn.Dropout(dropout) if dropout > 0 else None
        self.merged = False
        self.enabled = True

    def merge(self) -> None:
        if self.merged:
            log.warning("already merged, norm=%.3f", self.base.weight.norm().item())
            return
        self.base.weight.data += self.scaling * (self.B @ self.A)
        self.merged = True

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.base(x)
        if self.merged or not self.enabled:
            return y
        z = self.dropout(x) if self.dropout is not None else x
        return y + (z @ self.A.t() @ self.B.t()) * self.scaling


def inject(model: nn.Module, targets: Iterable[str], **kw) -> List[str]:
    pat = re.compile("|".join(targets))
    hit = []
    for name, mod in list(model.named_modules()):
        for cname, child in list(mod.named_children()):
            full = f"{name}.{cname}" if name else cname
            if isinstance(child, nn.Linear) and pat.search(full):
                setattr(mod, cname, LoRALinear(child, **kw))
                hit.append(full)
    print("injected", hit)
    return hit


class MHA(nn.Module):
    def __init__(self, d: int, h: int) -> None:
        super().__init__()
        self.h = h
        for n in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, n, nn.Linear(d, d))

    def forward(self, x, cache: Optional[Dict[str, torch.Tensor]] = None):
        b, t, d = x.shape
        heads = {}
        for n in "qkv":
            proj = getattr(self, f"{n}_proj")
            heads[n] = proj(x).view(b, t, self.h, d // self.h).transpose(1, 2)
        if cache is not None:
            for n in ("k", "v"):
                if n in cache:
                    heads[n] = torch.cat([cache[n], heads[n]], dim=2)
                cache[n] = heads[n]
        att = (heads["q"] @ heads["k"].mT / math.sqrt(d // self.h)).softmax(-1)
        return self.o_proj((att @ heads["v"]).transpose(1, 2).reshape(b, t, d))


if __name__ == "__main__":
    torch.manual_seed(0)
    mha = MHA(16, 2)
    inject(mha, [r"q_proj$", r"v_proj$"], r=2, dropout=0.1)
    opt = torch.optim.AdamW([p for p in mha.parameters() if p.requires_grad], lr=1e-2)
    net = torch.compile(mha, backend="eager")
    for i in range(2):
        loss = net(torch.randn(2, 5, 16)).pow(2).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        log.error("step %d loss %.4f", i, loss.item())
    mha.eval()
    for m in mha.modules():
        if isinstance(m, LoRALinear):
            m.merge()
    kv: Dict[str, torch.Tensor] = {}
    with torch.no_grad():
        for t in range(2):
            net(torch.randn(1, 1, 16), kv)
    print({k: tuple(v.shape) for k, v in kv.items()})
