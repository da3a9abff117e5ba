import os
import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.normal import Normal


@dataclass
class Args:
    seed: int = 1
    num_envs: int = 4
    num_steps: int = 8
    clip_coef: float = 0.2
    ent_coef: float = 0.0
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    target_kl: float = 0.0
    norm_adv: bool = True
    compile: bool = True


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(n_obs, 32)), nn.Tanh(), layer_init(nn.Linear(32, 1), std=1.0))
        self.actor_mean = nn.Sequential(layer_init(nn.Linear(n_obs, 32)), nn.Tanh(), layer_init(nn.Linear(32, n_act), std=0.01))
        self.actor_logstd = nn.Parameter(torch.zeros(1, n_act))

    def get_action_and_value(self, obs, action=None):
        mean = self.actor_mean(obs)
        std = self.actor_logstd.expand_as(mean).exp()
        probs = Normal(mean, std, validate_args=False)
        if action is None:
            action = mean + std * torch.randn_like(mean)
        return action, probs.log_prob(action).sum(1), probs.entropy().sum(1), self.critic(obs)


args = Args()
random.seed(args.seed)
np.random.seed(args.seed)
torch.manual_seed(args.seed)

agent = Agent(6, 2)
optimizer = optim.Adam(agent.parameters(), lr=3e-4, eps=1e-5)
stats = {"clipfrac": [], "kl": []}


def update(obs, actions, old_logp, adv, returns, vals):
    optimizer.zero_grad()  # breaks
    _, newlogp, entropy, newvalue = agent.get_action_and_value(obs, actions)
    logratio = newlogp - old_logp
    ratio = logratio.exp()

    with torch.no_grad():
        approx_kl = ((ratio - 1) - logratio).mean()
        stats["clipfrac"] += [((ratio - 1.0).abs() > args.clip_coef).float().mean().item()]  # breaks

    if args.norm_adv:
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)

    pg_loss = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)).mean()
    v_loss = 0.5 * ((newvalue.view(-1) - returns) ** 2).mean()
    loss = pg_loss - args.ent_coef * entropy.mean() + v_loss * args.vf_coef

    loss.backward()  # breaks
    gn = nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
    optimizer.step()  # breaks
    return approx_kl, v_loss.detach(), pg_loss.detach(), gn


policy = agent.get_action_and_value
if args.compile:
    policy = torch.compile(policy, backend="eager")
    update = torch.compile(update, backend="eager")

obs = torch.randn(args.num_envs * args.num_steps, 6)
with torch.no_grad():
    act, logp, _, val = policy(obs)
ret = torch.randn(obs.shape[0])
for epoch in range(2):
    kl, vl, pl, gn = update(obs, act, logp, ret - val.view(-1), ret, val)
    stats["kl"].append(kl.item())
    if args.target_kl and kl > args.target_kl:
        break
print({k: np.mean(v) for k, v in stats.items()}, os.path.basename(__file__))
