import torch

from sac_agent import SAC
from sac_buffer import ReplayBuffer


def fake_env_step(buf, n):
    for _ in range(n):
        buf.add(torch.randn(3), torch.rand(1) * 2 - 1, torch.randn(()), torch.randn(3), torch.rand(()) < 0.1)


def main(compile_mode="eager"):
    torch.manual_seed(0)
    buf = ReplayBuffer(64)
    agent = SAC(compile_backend=compile_mode)
    fake_env_step(buf, 32)
    for it in range(4):
        metrics = agent.update(buf.sample(8))
        act = agent.act(torch.randn(3), deterministic=it % 2 == 0)
        print(it, {k: round(v, 3) for k, v in metrics.items()}, act)


if __name__ == "__main__":
    main()
