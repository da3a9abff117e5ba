"""Recurrent state space model, unrolled under torch.compile."""
from __future__ import annotations

import dataclasses
from typing import Any, Iterator

import torch
from torch import Tensor, nn


@dataclasses.dataclass
class RSSMState:
    h: Tensor
    z: Tensor

    def cat(self) -> Tensor:
        return torch.cat([self.h, self.z], -1)

    def detach(self) -> "RSSMState":
        return RSSMState(self.h.detach(), self.z.detach())


def symlog(x: Tensor) -> Tensor:
    return torch.sign(x) * torch.log1p(x.abs())


class RSSM(nn.Module):
    def __init__(self, obs_dim: int, act_dim: int, deter: int = 16, groups: int = 2, classes: int = 4):
        super().__init__()
        self.deter, self.groups, self.classes = deter, groups, classes
        stoch = groups * classes
        self.cell = nn.GRUCell(stoch + act_dim, deter)
        self.prior = nn.Linear(deter, stoch)
        self.post = nn.Linear(deter + obs_dim, stoch)
        self.decoder = nn.Linear(deter + stoch, obs_dim)

    def initial(self, b: int) -> RSSMState:
        return RSSMState(torch.zeros(b, self.deter), torch.zeros(b, self.groups * self.classes))

    def _sample(self, logits: Tensor) -> Tensor:
        p = logits.view(*logits.shape[:-1], self.groups, self.classes).softmax(-1)
        hard = torch.nn.functional.one_hot(p.argmax(-1), self.classes).to(p.dtype)
        return (hard + p - p.detach()).flatten(-2)

    def obs_step(self, s: RSSMState, a: Tensor, o: Tensor, first: Tensor):
        keep = (1 - first.float())[:, None]
        h = self.cell(torch.cat([s.z * keep, a * keep], -1), s.h * keep)
        prior, post = self.prior(h), self.post(torch.cat([h, symlog(o)], -1))
        return RSSMState(h, self._sample(post)), prior, post

    def img_step(self, s: RSSMState, a: Tensor) -> RSSMState:
        h = self.cell(torch.cat([s.z, a], -1), s.h)
        return RSSMState(h, self._sample(self.prior(h)))

    def observe(self, obs: Tensor, act: Tensor, first: Tensor) -> dict[str, Tensor]:
        s = self.initial(obs.shape[0])
        out: dict[str, list[Tensor]] = {"prior": [], "post": [], "feat": []}
        for t in range(obs.shape[1]):
            s, prior, post = self.obs_step(s, act[:, t], obs[:, t], first[:, t])
            for k, v in (("prior", prior), ("post", post), ("feat", s.cat())):
                out[k].append(v)
        return {k: torch.stack(v, 1) for k, v in out.items()}


def kl(a: Tensor, b: Tensor, free: float = 1.0) -> Tensor:
    pa, la, lb = a.softmax(-1), a.log_softmax(-1), b.log_softmax(-1)
    return (pa * (la - lb)).sum(-1).mean().clamp(min=free)


class WorldModel(nn.Module):
    def __init__(self, **kw: Any):
        super().__init__()
        self.rssm = RSSM(**kw)

    def loss(self, batch: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        o = self.rssm.observe(batch["obs"], batch["act"], batch["first"])
        rec = (self.rssm.decoder(o["feat"]) - symlog(batch["obs"])).pow(2).mean()
        dyn = kl(o["post"].detach(), o["prior"])
        rep = kl(o["post"], o["prior"].detach())
        total = rec + 0.5 * dyn + 0.1 * rep
        return total, {"rec": rec.detach(), "dyn": dyn.detach(), "rep": rep.detach()}

    def imagine(self, horizon: int) -> Iterator[RSSMState]:
        s = self.rssm.initial(2)
        for _ in range(horizon):
            s = self.rssm.img_step(s, torch.rand(2, 2))
            yield s.detach()


if __name__ == "__main__":
    wm = WorldModel(obs_dim=5, act_dim=2)
    loss_fn = torch.compile(wm.loss, backend="eager")
    opt = torch.optim.Adam(wm.parameters(), 3e-4)
    for it in range(2):
        b = {"obs": torch.randn(3, 4, 5), "act": torch.rand(3, 4, 2), "first": torch.rand(3, 4) < 0.2}
        loss, mets = loss_fn(b)
        opt.zero_grad(); loss.backward(); opt.step()
        print(it, {k: round(v.item(), 3) for k, v in mets.items()})
    for s in wm.imagine(2):
        print(s.h.norm().item())
