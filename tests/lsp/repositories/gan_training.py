import torch
from torch import nn
import torch.nn.functional as F


def block(i, o, norm=True):
    layers = [nn.Linear(i, o)]
    if norm:
        layers.append(nn.LayerNorm(o))
    layers.append(nn.LeakyReLU(0.2, inplace=True))
    return layers


class Generator(nn.Module):
    def __init__(self, z_dim=4, out=6):
        super().__init__()
        self.model = nn.Sequential(*block(z_dim, 8, norm=False), *block(8, 16), nn.Linear(16, out), nn.Tanh())

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self, inp=6):
        super().__init__()
        self.model = nn.Sequential(*block(inp, 16, False), nn.Linear(16, 1))

    def forward(self, x):
        return self.model(x).squeeze(-1)


def d_loss_fn(real, fake):
    return F.softplus(-real).mean() + F.softplus(fake).mean()


def g_loss_fn(fake):
    return F.softplus(-fake).mean()


def main():
    torch.manual_seed(0)
    G = torch.compile(Generator(), backend="eager")
    D = torch.compile(Discriminator(), backend="eager")
    d_loss_c = torch.compile(d_loss_fn, backend="eager")
    g_loss_c = torch.compile(g_loss_fn, backend="eager")
    opt_g = torch.optim.Adam(G.parameters(), lr=2e-4)
    opt_d = torch.optim.Adam(D.parameters(), lr=2e-4)
    history = []
    for step in range(2):
        real = torch.randn(5, 6)
        z = torch.randn(5, 4)
        fake = G(z)
        d_loss = d_loss_c(D(real), D(fake.detach()))
        opt_d.zero_grad(); d_loss.backward(); opt_d.step()

        g_loss = g_loss_c(D(fake))
        opt_g.zero_grad(); g_loss.backward(); opt_g.step()
        history.append((d_loss.item(), g_loss.item()))
        if d_loss < 0.1:
            print("discriminator collapsed")
        print("[%d] d=%.3f g=%.3f" % (step, *history[-1]))


if __name__ == "__main__":
    main()
