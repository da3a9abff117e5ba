import math
import random
import torch
import torch.nn as nn
import torch.nn.functional as F
from itertools import chain


class TextTower(nn.Module):
    def __init__(self, vocab=64, width=16, out=8, ctx=10, eot=63):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, width), nn.Parameter(0.01 * torch.randn(ctx, width))
        self.block = nn.TransformerEncoderLayer(width, 2, 32, batch_first=True, dropout=0.0, norm_first=True)
        self.proj = nn.Parameter(width ** -0.5 * torch.randn(width, out))
        self.register_buffer("mask", torch.full((ctx, ctx), float("-inf")).triu(1), persistent=False)

    def forward(self, ids):
        n = ids.shape[1]
        x = self.tok(ids) + self.pos[:n]
        x = self.block(x, src_mask=self.mask[:n, :n])
        return x[torch.arange(len(x)), ids.argmax(-1)] @ self.proj


class ImageTower(nn.Module):
    def __init__(self, patch=4, width=16, out=8):
        super().__init__()
        self.conv = nn.Conv2d(3, width, patch, patch)
        self.proj = nn.Linear(width, out, bias=False)
        self.last_attn = None

    def forward(self, img):
        x = self.conv(img).flatten(2).transpose(1, 2)
        w = (x @ x.mean(1, keepdim=True).transpose(1, 2)).softmax(1)
        self.last_attn = w
        return self.proj((w * x).sum(1))


class CLIP(nn.Module):
    output_dict = True

    def __init__(self, init_scale=1 / 0.07):
        super().__init__()
        self.visual, self.text = ImageTower(), TextTower()
        self.logit_scale = nn.Parameter(torch.ones([]) * math.log(init_scale))

    def forward(self, image=None, text=None):
        i = F.normalize(self.visual(image), dim=-1) if image is not None else None
        t = F.normalize(self.text(text), dim=-1) if text is not None else None
        if self.output_dict:
            return {"image": i, "text": t, "scale": self.logit_scale.exp()}
        return i, t, self.logit_scale.exp()


class ClipLoss(nn.Module):
    def __init__(self, cache_labels=True, world_size=1):
        super().__init__()
        self.cache_labels, self.world_size = cache_labels, world_size
        self.prev_num_logits, self.labels = 0, {}

    def get_labels(self, device, n):
        if self.prev_num_logits != n or device not in self.labels:
            lab = torch.arange(n, device=device)
            if self.cache_labels:
                self.labels[device] = lab
                self.prev_num_logits = n
        else:
            lab = self.labels[device]
        return lab

    def forward(self, image, text, scale):
        if self.world_size > 1:
            torch.distributed.all_gather([], image)
        logits = scale * image @ text.T
        y = self.get_labels(image.device, logits.shape[0])
        return (F.cross_entropy(logits, y) + F.cross_entropy(logits.T, y)) / 2


def batches(n):
    for _ in range(n):
        t = torch.randint(1, 60, (4, 10))
        t[:, random.randint(3, 9)] = 63
        yield torch.randn(4, 3, 8, 8), t


model, loss_fn = CLIP(), ClipLoss()
cmodel = torch.compile(model, backend="eager")
opt = torch.optim.AdamW(chain(model.parameters(), loss_fn.parameters()), lr=1e-3)
for i, (img, txt) in enumerate(batches(2)):
    out = cmodel(image=img, text=txt)
    loss = loss_fn(*out.values())
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        model.logit_scale.clamp_(0, math.log(100))
    print(f"{i}: {loss.item():.3f} scale {out['scale'].item():.2f}")
feats = cmodel(image=torch.randn(4, 3, 8, 8))["image"]
print(feats.norm(dim=-1).tolist())
