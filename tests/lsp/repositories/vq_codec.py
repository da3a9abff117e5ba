import torch, torch.nn as nn, torch.nn.functional as F
from collections import namedtuple

VQOutput = namedtuple('VQOutput', ['quantized', 'codes', 'commit_loss'])

def default(v, d): return v if v is not None else d

def ema_inplace(avg, new, decay):
    avg.data.mul_(decay).add_(new, alpha = 1 - decay)

class EuclideanCodebook(nn.Module):
    def __init__(self, dim, codebook_size, decay = 0.9, threshold_ema_dead_code = 0.5):
        super().__init__()
        self.decay = decay
        self.codebook_size = codebook_size
        self.threshold = threshold_ema_dead_code
        self.register_buffer('inited', torch.Tensor([False]))
        self.register_buffer('cluster_size', torch.zeros(codebook_size))
        self.register_buffer('embed', torch.zeros(codebook_size, dim))
        self.register_buffer('embed_avg', torch.zeros(codebook_size, dim))

    def init_embed_(self, data):
        if self.inited:  # breaks
            return
        idx = torch.randperm(data.shape[0])[:self.codebook_size]
        self.embed.data.copy_(data[idx])
        self.embed_avg.data.copy_(data[idx])
        self.cluster_size.data.fill_(1.)
        self.inited.data.copy_(torch.Tensor([True]))

    def expire_codes_(self, samples):
        if self.threshold == 0:
            return
        expired = self.cluster_size < self.threshold
        if not torch.any(expired):  # breaks
            return
        pick = torch.randint(0, samples.shape[0], (self.codebook_size,))
        self.embed.data.copy_(torch.where(expired[:, None], samples[pick], self.embed))

    def quantize(self, x):
        dist = x.pow(2).sum(1, keepdim = True) - 2 * x @ self.embed.t() + self.embed.pow(2).sum(1)
        return dist.argmin(-1)

    def forward(self, x):
        shape = x.shape
        flat = x.reshape(-1, shape[-1])
        self.init_embed_(flat.detach())
        codes = self.quantize(flat)
        onehot = F.one_hot(codes, self.codebook_size).type(x.dtype)
        quant = F.embedding(codes, self.embed)
        if self.training:
            self.expire_codes_(flat.detach())
            ema_inplace(self.cluster_size, onehot.sum(0), self.decay)
            ema_inplace(self.embed_avg, onehot.t() @ flat.detach(), self.decay)
        return quant.view(shape), codes.view(shape[:-1])

class ResidualVQ(nn.Module):
    def __init__(self, *, num_quantizers, dim, codebook_size, **kwargs):
        super().__init__()
        self.layers = nn.ModuleList([EuclideanCodebook(dim, codebook_size, **kwargs) for _ in range(num_quantizers)])
        self.usage = {}

    def track_usage(self, i, codes):
        used = torch.unique(codes)  # breaks
        self.usage[i] = len(used)

    def forward(self, x, n_q = None):
        n_q = default(n_q, len(self.layers))
        out, residual, all_codes, losses = 0., x, [], []
        for i, layer in enumerate(self.layers[:n_q]):
            q, codes = layer(residual)
            losses.append(F.mse_loss(residual, q.detach()))
            q = residual + (q - residual).detach()
            residual = residual - q.detach()
            out = out + q
            all_codes.append(codes)
            self.track_usage(i, codes)
        return VQOutput(out, torch.stack(all_codes), torch.stack(losses).mean())

class Codec(nn.Module):
    def __init__(self, dim = 8):
        super().__init__()
        self.enc = nn.Conv1d(1, dim, 8, 4, 2)
        self.vq = ResidualVQ(num_quantizers = 2, dim = dim, codebook_size = 16)
        self.dec = nn.ConvTranspose1d(dim, 1, 8, 4, 2)

    def forward(self, wav):
        z = self.enc(wav).transpose(1, 2)
        vq = self.vq(z)
        return self.dec(vq.quantized.transpose(1, 2)), vq

torch.manual_seed(0)
codec = Codec()
codec.vq = torch.compile(codec.vq, backend = 'eager')
opt = torch.optim.Adam(codec.parameters())
for _ in range(2):
    wav = torch.randn(4, 1, 64)
    rec, vq = codec(wav)
    loss = F.l1_loss(rec, wav) + 0.1 * vq.commit_loss
    loss.backward(); opt.step(); opt.zero_grad()
print(loss.item(), codec.vq.usage)
