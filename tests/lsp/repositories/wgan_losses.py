import torch
import torch.nn as nn
import torch.nn.functional as F


def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 4, 2, 1), nn.LeakyReLU(0.2))


class G(nn.Module):
    def __init__(self, z=8):
        super().__init__()
        self.fc = nn.Linear(z, 3 * 8 * 8)

    def forward(self, z): return torch.tanh(self.fc(z).view(-1, 3, 8, 8))


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(conv_block(3, 8), conv_block(8, 8))
        self.fc = nn.Linear(8 * 2 * 2, 1)

    def forward(self, x): return self.fc(self.body(x).flatten(1))


def hinge_d(real, fake):
    return F.relu(1 - real).mean() + F.relu(1 + fake).mean()


def hinge_g(fake):
    return -fake.mean()


class AdaptiveAugment:
    """ADA: p goes up when D overfits."""

    def __init__(self, target=0.6, speed=0.1):
        self.p, self.target, self.speed = 0.0, target, speed

    def update(self, d_real):
        r = d_real.sign().mean().item()  # breaks
        self.p = min(1.0, max(0.0, self.p + (self.speed if r > self.target else -self.speed)))

    def __call__(self, x):
        if self.p > 0 and torch.rand(()) < self.p:  # breaks
            x = x.flip(-1)
        return x


def main():
    torch.manual_seed(0)
    gen, dis, ada = G(), D(), AdaptiveAugment()
    ada.p = 0.2
    og = torch.optim.Adam(gen.parameters(), 1e-4)
    od = torch.optim.Adam(dis.parameters(), 4e-4)
    kw = dict(backend="eager")
    ganD = torch.compile(hinge_d, **kw)
    ganG = torch.compile(hinge_g, **kw)

    @torch.compile(**kw)
    def d_forward(x, z):
        with torch.no_grad():
            fake = gen(z)
        rl = dis(ada(x))
        fl = dis(ada(fake))
        ada.update(rl)
        return rl, fl

    for it in range(3):
        x, z = torch.rand(4, 3, 8, 8), torch.randn(4, 8)
        rl, fl = d_forward(x, z)
        ld = ganD(rl, fl)
        od.zero_grad(); ld.backward(); od.step()
        lg = ganG(dis(gen(z)))
        og.zero_grad(); lg.backward(); og.step()
        print(it, ld.item(), lg.item(), ada.p)


main()
