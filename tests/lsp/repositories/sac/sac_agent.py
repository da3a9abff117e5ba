import torch

from sac_nets import Actor, TwinQ


class SAC:
    def __init__(self, gamma=0.99, tau=0.05, compile_backend=None):
        self.actor, self.q = Actor(), TwinQ()
        self.tq = self.q.frozen_copy()
        self.log_alpha = torch.zeros((), requires_grad=True)
        self.gamma, self.tau = gamma, tau
        self.q_opt = torch.optim.Adam(self.q.parameters(), 1e-3)
        self.pi_opt = torch.optim.Adam([*self.actor.parameters(), self.log_alpha], 1e-3)
        self.updates = 0
        if compile_backend:
            for name in ("critic_loss", "actor_loss", "soft_update", "act"):
                setattr(self, name, torch.compile(getattr(self, name), backend=compile_backend))

    @property
    def alpha(self):
        return self.log_alpha.exp().item()  # breaks

    def critic_loss(self, b):
        with torch.no_grad():
            na, nlogp = self.actor(b["nobs"])
            tq = self.tq(b["nobs"], na).amin(0) - self.alpha * nlogp
            y = b["rew"] + self.gamma * (1 - b["done"]) * tq
        td = self.q(b["obs"], b["act"]) - y
        if (td.abs() > 100).any():
            td = td.clamp(-100, 100)
        return td.square().mean(), td.abs().max()

    def actor_loss(self, b):
        a, logp = self.actor(b["obs"])
        q = self.q(b["obs"], a).amin(0)
        pi = (self.alpha * logp - q).mean()
        temp = -(self.log_alpha * (logp.detach() - 1.0)).mean()
        return pi + temp, logp.detach().mean()

    @torch.no_grad()
    def soft_update(self):
        for p, tp in zip(self.q.parameters(), self.tq.parameters()):
            tp.lerp_(p, self.tau)

    @torch.no_grad()
    def act(self, obs, deterministic=False):
        a, _ = self.actor(obs.unsqueeze(0), deterministic)
        return a.squeeze(0).numpy().tolist()  # breaks

    def update(self, b):
        ql, td = self.critic_loss(b)
        self.q_opt.zero_grad(); ql.backward(); self.q_opt.step()
        pl, lp = self.actor_loss(b)
        self.pi_opt.zero_grad(); pl.backward(); self.pi_opt.step()
        self.updates += 1
        if self.updates % 2 == 0:
            self.soft_update()
        return {"q": ql.item(), "pi": pl.item(), "td": td.item(), "logp": lp.item()}
