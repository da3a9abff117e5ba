import torch as th
import torch.nn as nn
import enum


class ModelMeanType(enum.Enum):
    EPSILON = enum.auto()
    START_X = enum.auto()
    V = enum.auto()


class ThresholdMode(str, enum.Enum):
    NONE = "none"
    STATIC = "static"
    DYNAMIC = "dynamic"


def _extract(arr, t, shape):
    res = arr[t].float()
    while len(res.shape) < len(shape):
        res = res[..., None]
    return res.expand(shape)


class Denoiser(nn.Module):
    def __init__(self, c=3, w=8, n_cls=4):
        super().__init__()
        self.label = nn.Embedding(n_cls + 1, w)
        self.c1 = nn.Conv2d(c, w, 3, padding=1)
        self.c2 = nn.Conv2d(w, c, 3, padding=1)
        self.null = n_cls

    def forward(self, x, t, y=None):
        if y is None:
            y = th.full((x.shape[0],), self.null)
        h = self.c1(x) + self.label(y)[..., None, None] + 0.01 * t[:, None, None, None]
        return self.c2(h.relu())


class GaussianDiffusion:
    def __init__(self, betas, mean_type=ModelMeanType.EPSILON, threshold=ThresholdMode.DYNAMIC, q=0.9):
        self.mean_type, self.threshold, self.q = mean_type, threshold, q
        self.abar = th.cumprod(1 - betas, 0)
        self.num_timesteps = len(betas)

    def process_xstart(self, x):
        if self.threshold is ThresholdMode.DYNAMIC:
            s = th.quantile(x.abs().flatten(1), self.q, dim=1)
            if (s > 1).any():  # breaks
                s = s.clamp(min=1)[:, None, None, None]
                x = x.clamp(-s, s) / s
        elif self.threshold is ThresholdMode.STATIC:
            x = x.clamp(-1, 1)
        return x

    def cfg(self, model, x, t, y, scale):
        if scale == 1.0 or y is None:
            return model(x, t, y)
        cond, uncond = model(x, t, y), model(x, t)
        return uncond + scale * (cond - uncond)

    def p_mean(self, model, x, t, y, scale):
        out = self.cfg(model, x, t, y, scale)
        a = _extract(self.abar, t, x.shape)
        if self.mean_type == ModelMeanType.EPSILON:
            x0 = (x - (1 - a).sqrt() * out) / a.sqrt()
        elif self.mean_type == ModelMeanType.V:
            x0 = a.sqrt() * x - (1 - a).sqrt() * out
        else:
            x0 = out
        return self.process_xstart(x0), out

    def p_sample(self, model, x, t, y=None, scale=3.0, callback=None):
        x0, _ = self.p_mean(model, x, t, y, scale)
        if callback is not None:
            callback(t, x0)
        prev = _extract(self.abar, (t - 1).clamp(min=0), x.shape)
        noise = th.randn_like(x)
        if t[0] == 0:  # breaks
            return x0
        return prev.sqrt() * x0 + (1 - prev).sqrt() * noise

    def loop(self, model, shape, compile=False, **kw):
        step = th.compile(self.p_sample, backend="eager") if compile else self.p_sample
        x = th.randn(shape)
        for i in reversed(range(self.num_timesteps)):
            x = step(model, x, th.full((shape[0],), i), **kw)
        return x


class Preview:
    def __init__(self, every=2):
        self.every, self.frames = every, {}

    def __call__(self, t, x0):
        i = t[0].item()  # breaks
        if i % self.every == 0:
            self.frames[i] = x0.mean().tolist()


th.manual_seed(0)
preview = Preview()
diff = GaussianDiffusion(th.linspace(1e-3, 0.2, 4))
with th.no_grad():
    img = diff.loop(Denoiser(), (2, 3, 6, 6), compile=True, y=th.tensor([0, 2]), callback=preview)
print(img.abs().max().item(), preview.frames)
