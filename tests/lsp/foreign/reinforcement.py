"""A policy: sampling, rollouts, epsilon."""

import random

import torch
from torch import nn
from torch.distributions import Categorical, Normal


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.epsilon = 0.1

    def forward(self, state):
        logits = self.net(state)
        if random.random() < self.epsilon:  # breaks
            action = torch.randint(0, 2, (1,))
        else:
            action = logits.argmax(-1, keepdim=True)
        return action, logits.log_softmax(-1)


@torch.compile(backend="eager")
def rollout(policy, state):
    rewards = []
    for _ in range(2):
        action, logp = policy(state)
        state = state + action
        rewards.append(logp.max())
        if state.sum() > 100:
            break
    returns = torch.stack(rewards)
    return returns.flip(0).cumsum(0)


@torch.compile(backend="eager")
def sample(logits):
    distribution = Categorical(logits=logits)
    action = distribution.sample()
    return action, distribution.log_prob(action).item()  # breaks


@torch.compile(backend="eager")
def advantage(rewards, values):
    adv = rewards - values
    if adv.numel() > 1 and adv.std() > 0:  # breaks
        adv = (adv - adv.mean()) / adv.std()
    return adv


if __name__ == "__main__":
    rollout(Policy(), torch.zeros(1, 4))
    sample(torch.randn(3))
    advantage(torch.randn(3), torch.zeros(3))
