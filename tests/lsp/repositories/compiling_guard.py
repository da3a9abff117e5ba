import logging
import torch
import torch.nn as nn

logging.basicConfig(level=logging.ERROR)
LOG = logging.getLogger("codec")


def check(x, name):
    if torch.compiler.is_compiling():
        return
    if not torch.isfinite(x).all():
        raise ValueError(f"{name} has non-finite values")
    LOG.debug("%s ok, mean %f", name, x.mean().item())


class VectorQuantizer(nn.Module):
    def __init__(self, n_codes, dim, beta=0.25):
        super().__init__()
        self.codebook = nn.Embedding(n_codes, dim)
        self.beta = beta
        self.usage = {}

    def track(self, ids):
        if not torch.compiler.is_compiling():
            for i in ids.flatten().tolist():
                self.usage[i] = self.usage.get(i, 0) + 1

    def forward(self, z):
        check(z, "z")
        d = torch.cdist(z, self.codebook.weight)
        ids = d.argmin(-1)
        self.track(ids)
        q = self.codebook(ids)
        loss = (q - z.detach()).pow(2).mean() + self.beta * (q.detach() - z).pow(2).mean()
        q = z + (q - z).detach()
        return q, loss, ids


class Codec(nn.Module):
    verbose = False

    def __init__(self, dim=4):
        super().__init__()
        self.enc = nn.Conv1d(1, dim, 4, stride=4)
        self.vq = VectorQuantizer(6, dim)
        self.dec = nn.ConvTranspose1d(dim, 1, 4, stride=4)

    def forward(self, wav):
        if wav.ndim == 2:
            wav = wav.unsqueeze(1)
        z = self.enc(wav).transpose(1, 2)
        q, vq_loss, ids = self.vq(z)
        rec = self.dec(q.transpose(1, 2))
        if self.verbose:
            print("codes", ids.unique().numel())
        check(rec, "rec")
        return rec, vq_loss + (rec - wav).abs().mean()


codec = Codec()
fast = torch.compile(codec, backend="eager")
wav = torch.randn(2, 16)
_, l_eager = codec(wav)
_, l_fast = fast(wav)
l_fast.backward()
print(torch.allclose(l_eager, l_fast), codec.vq.usage)
