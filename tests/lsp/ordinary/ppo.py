import torch
from torch import nn
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.pi = nn.Linear(16, 2)
        self.v = nn.Linear(16, 1)

    def forward(self, obs):
        h = self.body(obs)
        return self.pi(h), self.v(h)


policy = Policy()


@torch.compile(backend="eager")
def act(obs):
    logits, value = policy(obs)
    action = torch.multinomial(logits.softmax(-1), 1)
    return action.item(), value  # breaks


@torch.compile(backend="eager")
def update(obs, actions, old_logp, adv):
    logits, value = policy(obs)
    logp = torch.log_softmax(logits, -1).gather(1, actions[:, None]).squeeze(1)
    ratio = (logp - old_logp).exp()
    kl = (old_logp - logp).mean()
    if kl > 0.5:  # breaks
        return None
    clipped = torch.clamp(ratio, 0.8, 1.2) * adv
    loss = -torch.min(ratio * adv, clipped).mean() + 0.5 * value.pow(2).mean()
    loss.backward()
    return loss.item()


with torch.no_grad():
    act(torch.randn(1, 4))
update(torch.randn(3, 4), torch.tensor([0, 1, 1]), torch.zeros(3), torch.randn(3))
