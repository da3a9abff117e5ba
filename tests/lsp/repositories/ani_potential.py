import torch
from torch import nn
from typing import NamedTuple


class SpeciesEnergies(NamedTuple):
    species: torch.Tensor
    energies: torch.Tensor


class RadialAEV(nn.Module):
    def __init__(self, n_eta=4, cutoff=5.0):
        super().__init__()
        self.cutoff = cutoff
        self.register_buffer("shifts", torch.linspace(0.5, cutoff, n_eta))

    def fc(self, d):
        return 0.5 * torch.cos(d * torch.pi / self.cutoff) + 0.5

    def forward(self, species, coords):
        diff = coords[:, :, None] - coords[:, None]
        d = (diff.square().sum(-1) + 1e-9).sqrt()
        i, j, k = torch.nonzero((d < self.cutoff) & (d > 1e-3), as_tuple=True)  # breaks
        dij = d[i, j, k]
        terms = torch.exp(-4 * (dij[:, None] - self.shifts) ** 2) * self.fc(dij)[:, None]
        out = coords.new_zeros(coords.shape[0] * coords.shape[1], self.shifts.numel())
        out = out.index_add(0, i * coords.shape[1] + j, terms)
        return out.view(*coords.shape[:2], -1)


def atomic_net(n):
    return nn.Sequential(nn.Linear(n, 8), nn.CELU(0.1), nn.Linear(8, 1))


class ANIModel(nn.ModuleDict):
    def __init__(self, symbols, n):
        super().__init__({s: atomic_net(n) for s in symbols})

    def forward(self, species, aev):
        sp = species.flatten()
        aev = aev.flatten(0, 1)
        out = aev.new_zeros(sp.shape)
        for i, (_, net) in enumerate(self.items()):
            mask = sp == i
            midx = mask.nonzero().flatten()  # breaks
            if midx.shape[0] > 0:
                out.masked_scatter_(mask, net(aev.index_select(0, midx)).flatten())
        return SpeciesEnergies(species, out.view_as(species).sum(-1))


class Shifter(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.table = table

    def forward(self, se):
        s = torch.tensor([sum(self.table[a] for a in mol) for mol in se.species.tolist()])  # breaks
        return SpeciesEnergies(se.species, se.energies + s)


class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.aev = RadialAEV()
        self.nn = ANIModel(["H", "C", "O"], 4)
        self.shift = Shifter([-0.5, -37.8, -75.0])

    def forward(self, species, coords):
        if torch.isnan(coords).any():  # breaks
            raise ValueError("nan in the coordinates")
        return self.shift(self.nn(species, self.aev(species, coords)))


model = Potential()
compiled = torch.compile(model, backend="eager", dynamic=True)
species = torch.tensor([[0, 1, 2, 0], [1, 1, 0, 2]])
coords = torch.randn(2, 4, 3, requires_grad=True)
e = compiled(species, coords).energies
f = -torch.autograd.grad(e.sum(), coords)[0]
print(e.tolist(), f.shape)
