import torch
import torch.nn as nn
from typing import Callable, Dict


class PosEnc(nn.Module):
    def __init__(self, n_freqs: int, include_input: bool = True):
        super().__init__()
        fns: list[Callable] = [lambda x: x] if include_input else []
        for f in 2.0 ** torch.arange(n_freqs):
            fns.append(lambda x, f=f: torch.sin(x * f))
            fns.append(lambda x, f=f: torch.cos(x * f))
        self.fns = fns
        self.out_dim = 3 * len(fns)

    def forward(self, x):
        return torch.cat([fn(x) for fn in self.fns], -1)


class RadianceField(nn.Module):
    def __init__(self, n_freqs=3, hidden=16):
        super().__init__()
        self.enc = PosEnc(n_freqs)
        self.mlp = nn.Sequential(nn.Linear(self.enc.out_dim, hidden), nn.ReLU(), nn.Linear(hidden, 4))

    def forward(self, pts):
        raw = self.mlp(self.enc(pts))
        return torch.sigmoid(raw[..., :3]), torch.relu(raw[..., 3])


class OccupancyGrid:
    def __init__(self, res=4, thresh=0.01):
        self.res, self.thresh = res, thresh
        self.occ = torch.rand(res, res, res)

    def query(self, p):
        i = ((p.clamp(-1, 0.999) + 1) / 2 * self.res).long()
        return self.occ[i[..., 0], i[..., 1], i[..., 2]] > self.thresh


def composite(rgb, sigma, dt):
    alpha = 1 - torch.exp(-sigma * dt)
    trans = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
    w = alpha * trans
    return (w[..., None] * rgb).sum(1), trans[:, -1]


class Renderer:
    def __init__(self, field, grid, near=0.0, far=2.0, n_seg=3, n_per_seg=4, early_stop=1e-3):
        self.field, self.grid = field, grid
        self.near, self.far = near, far
        self.n_seg, self.n_per_seg, self.early_stop = n_seg, n_per_seg, early_stop

    def march(self, o, d, t0, t1):
        t = torch.linspace(t0, t1, self.n_per_seg)
        pts = o[:, None] + d[:, None] * t[None, :, None]
        mask = self.grid.query(pts)
        rgb = torch.zeros_like(pts)
        sigma = torch.zeros(pts.shape[:2])
        if mask.sum() > 0:  # breaks
            c, s = self.field(pts[mask])  # breaks
            rgb[mask] = c
            sigma[mask] = s
        return composite(rgb, sigma, (t1 - t0) / self.n_per_seg)

    def opaque(self, T):
        return bool(T.max() < self.early_stop)  # breaks

    def render_rays(self, o, d) -> Dict[str, torch.Tensor]:
        color = torch.zeros_like(o)
        T = torch.ones(o.shape[0])
        seg = (self.far - self.near) / self.n_seg
        for k in range(self.n_seg):
            c, t_end = self.march(o, d, self.near + k * seg, self.near + (k + 1) * seg)
            color = color + T[:, None] * c
            T = T * t_end
            if self.opaque(T):
                break
        return {"rgb": color, "acc": 1 - T}

    def render(self, o, d, chunk=8, compiled=True):
        fn = torch.compile(self.render_rays, backend="eager") if compiled else self.render_rays
        parts = [fn(o[i:i + chunk], d[i:i + chunk]) for i in range(0, len(o), chunk)]
        return {k: torch.cat([p[k] for p in parts]) for k in parts[0]}


torch.manual_seed(0)
o = torch.rand(16, 3) * 0.2
d = torch.nn.functional.normalize(torch.randn(16, 3), dim=-1)
with torch.no_grad():
    out = Renderer(RadianceField(), OccupancyGrid()).render(o, d)
print({k: tuple(v.shape) for k, v in out.items()})
