import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


def get_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--temp", type=float, default=0.2)
    ap.add_argument("--compile", action="store_true", default=True)
    ap.add_argument("--queue", type=int, default=12)
    return ap.parse_args([])


class MoCo(nn.Module):
    def __init__(self, make_encoder, dim, K, T, m=0.99):
        super().__init__()
        self.K, self.T, self.m = K, T, m
        self.q_enc, self.k_enc = make_encoder(), make_encoder()
        for a, b in zip(self.q_enc.parameters(), self.k_enc.parameters()):
            b.data.copy_(a.data)
            b.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, K), dim=0))
        self.register_buffer("ptr", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def momentum_update(self):
        for a, b in zip(self.q_enc.parameters(), self.k_enc.parameters()):
            b.mul_(self.m).add_(a, alpha=1 - self.m)

    @torch.no_grad()
    def enqueue(self, keys):
        n = keys.shape[0]
        ptr = int(self.ptr)  # breaks
        assert self.K % n == 0
        self.queue[:, ptr:ptr + n] = keys.T
        self.ptr[0] = (ptr + n) % self.K

    def forward(self, im_q, im_k):
        q = F.normalize(self.q_enc(im_q), dim=1)
        with torch.no_grad():
            self.momentum_update()
            k = F.normalize(self.k_enc(im_k), dim=1)
        pos = torch.einsum("nc,nc->n", [q, k]).unsqueeze(-1)
        neg = torch.einsum("nc,ck->nk", [q, self.queue.clone().detach()])
        logits = torch.cat([pos, neg], dim=1) / self.T
        self.enqueue(k)
        return logits


def accuracy(logits, topk=(1, 3)):
    target = torch.zeros(logits.size(0), dtype=torch.long)
    _, pred = logits.topk(max(topk), 1)
    correct = pred.t().eq(target)
    return [float(correct[:k].any(0).float().mean() * 100) for k in topk]  # breaks


if __name__ == "__main__":
    args = get_args()
    model = MoCo(lambda: nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8)), 8, args.queue, args.temp)
    acc_fn = accuracy
    if args.compile:
        model = torch.compile(model, backend="eager")
        acc_fn = torch.compile(accuracy, backend="eager")
    for i in range(2):
        x = torch.randn(4, 6)
        logits = model(x, x + 0.05 * torch.randn_like(x))
        loss = F.cross_entropy(logits, torch.zeros(4, dtype=torch.long))
        loss.backward()
        print(i, loss.item(), acc_fn(logits.detach()))
