import numpy as np
import torch
import torch.nn as nn


def square_distance(a, b):
    return (a[:, :, None] - b[:, None]).pow(2).sum(-1)


def farthest_point_sample(xyz, npoint):
    B, N, _ = xyz.shape
    centroids = torch.zeros(B, npoint, dtype=torch.long)
    distance = torch.ones(B, N) * 1e10
    farthest = torch.tensor(np.random.randint(0, N, (B,)))
    batch = torch.arange(B)
    for i in range(npoint):
        centroids[:, i] = farthest
        c = xyz[batch, farthest].view(B, 1, 3)
        distance = torch.min(distance, ((xyz - c) ** 2).sum(-1))
        farthest = distance.max(-1)[1]
    return centroids


def query_ball_point(radius, nsample, xyz, new_xyz):
    B, N, S = xyz.shape[0], xyz.shape[1], new_xyz.shape[1]
    idx = torch.arange(N).view(1, 1, N).repeat(B, S, 1)
    idx[square_distance(new_xyz, xyz) > radius ** 2] = N
    idx = idx.sort(-1)[0][:, :, :nsample]
    first = idx[:, :, :1].repeat(1, 1, nsample)
    mask = idx == N
    idx[mask] = first[mask]  # breaks
    return idx


def gather(pts, idx):
    b = torch.arange(pts.shape[0]).view(-1, *([1] * (idx.dim() - 1))).expand_as(idx)
    return pts[b, idx]


class SetAbstraction(nn.Module):
    def __init__(self, npoint, radius, nsample, cin, cout):
        super().__init__()
        self.npoint, self.radius, self.nsample = npoint, radius, nsample
        self.mlp = nn.Sequential(nn.Linear(cin + 3, cout), nn.ReLU(), nn.Linear(cout, cout))

    def forward(self, xyz, feats):
        new_xyz = gather(xyz, farthest_point_sample(xyz, self.npoint))
        idx = query_ball_point(self.radius, self.nsample, xyz, new_xyz)
        g = gather(xyz, idx) - new_xyz[:, :, None]
        if feats is not None:
            g = torch.cat([g, gather(feats, idx)], -1)
        return new_xyz, self.mlp(g).amax(2)


class PointNet2(nn.Module):
    def __init__(self, n_cls=4, augment=False):
        super().__init__()
        self.sa1 = SetAbstraction(8, 0.8, 4, 0, 8)
        self.sa2 = SetAbstraction(4, 1.6, 4, 8, 16)
        self.fc = nn.Linear(16, n_cls)
        self.augment = augment

    def jitter(self, xyz, sigma=0.01):
        noise = np.clip(sigma * np.random.randn(*xyz.shape), -0.05, 0.05)
        return xyz + torch.from_numpy(noise).float()

    def forward(self, xyz):
        if self.augment and self.training:
            xyz = self.jitter(xyz)
        xyz, f = self.sa1(xyz, None)
        xyz, f = self.sa2(xyz, f)
        return self.fc(f.amax(1))


def train_one(model, n_iter=2):
    opt = torch.optim.Adam(model.parameters())
    for _ in range(n_iter):
        logits = model(torch.rand(2, 24, 3))
        loss = nn.functional.cross_entropy(logits, torch.tensor([0, 3]))
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


np.random.seed(0)
torch.manual_seed(0)
print('loss', train_one(torch.compile(PointNet2(augment=True), backend='eager')))
