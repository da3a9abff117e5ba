import torch
import torch.nn as nn

G = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 6))
D = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4)
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4)
bce = nn.BCEWithLogitsLoss()


def discriminator_step(real):
    z = torch.randn(real.size(0), 4)
    fake = G(z).detach()
    loss = bce(D(real), torch.ones(real.size(0), 1)) + bce(D(fake), torch.zeros(real.size(0), 1))
    opt_d.zero_grad()  # breaks
    loss.backward()  # breaks
    opt_d.step()  # breaks
    return loss


def generator_step(n):
    loss = bce(D(G(torch.randn(n, 4))), torch.ones(n, 1))
    opt_g.zero_grad()  # breaks
    loss.backward()  # breaks
    opt_g.step()  # breaks
    if loss.item() > 5:  # breaks
        print("generator is losing")
    return loss


d_step = torch.compile(discriminator_step, backend="eager")
g_step = torch.compile(generator_step, backend="eager")
d_step(torch.randn(3, 6))
g_step(3)
