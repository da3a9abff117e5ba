""" Tiny Vision model factory

Hacked together in the style of larger image model zoos
"""
import argparse
import logging
from functools import partial
from typing import Any, Callable, Dict, Optional

import torch
import torch.nn as nn

_logger = logging.getLogger('train')
_model_entrypoints: Dict[str, Callable[..., Any]] = {}


def register_model(fn):
    _model_entrypoints[fn.__name__] = fn
    return fn


def create_model(model_name: str, pretrained: bool = False, **kwargs):
    kwargs = {k: v for k, v in kwargs.items() if v is not None}
    if model_name not in _model_entrypoints:
        raise RuntimeError('Unknown model (%s)' % model_name)
    _logger.info('creating %s', model_name)
    return _model_entrypoints[model_name](pretrained=pretrained, **kwargs)


def drop_path(x, drop_prob: float = 0., training: bool = False, scale_by_keep: bool = True):
    if drop_prob == 0. or not training:
        return x
    keep_prob = 1 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    random_tensor = x.new_empty(shape).bernoulli_(keep_prob)
    if keep_prob > 0.0 and scale_by_keep:
        random_tensor.div_(keep_prob)
    return x * random_tensor


class DropPath(nn.Module):
    def __init__(self, drop_prob: float = 0.):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        return drop_path(x, self.drop_prob, self.training)

    def extra_repr(self):
        return f'drop_prob={round(self.drop_prob,3):0.3f}'


class ConvBlock(nn.Module):
    def __init__(self, dim, drop_path=0., norm_layer=nn.BatchNorm2d, ls_init: Optional[float] = 1e-4):
        super().__init__()
        self.dw = nn.Conv2d(dim, dim, 3, padding=1, groups=dim)
        self.norm = norm_layer(dim)
        self.pw = nn.Conv2d(dim, dim, 1)
        self.gamma = nn.Parameter(ls_init * torch.ones(dim)) if ls_init is not None else None
        self.drop_path = DropPath(drop_path) if drop_path > 0. else nn.Identity()

    def forward(self, x):
        shortcut = x
        x = self.pw(self.norm(self.dw(x)).relu())
        if self.gamma is not None:
            x = x.mul(self.gamma.reshape(1, -1, 1, 1))
        return self.drop_path(x) + shortcut


class MiniNeXt(nn.Module):
    def __init__(self, depth=2, dim=8, num_classes=10, drop_path_rate=0., global_pool='avg'):
        super().__init__()
        self.stem = nn.Conv2d(3, dim, 4, stride=4)
        dpr = [r.item() for r in torch.linspace(0, drop_path_rate, depth)]
        self.blocks = nn.Sequential(*[ConvBlock(dim, drop_path=dpr[i]) for i in range(depth)])
        self.global_pool = global_pool
        self.head = nn.Linear(dim, num_classes) if num_classes > 0 else nn.Identity()

    def forward_features(self, x):
        _, _, H, W = x.shape
        if H % 4 or W % 4:
            x = nn.functional.pad(x, (0, -W % 4, 0, -H % 4))
        return self.blocks(self.stem(x))

    def forward(self, x):
        x = self.forward_features(x)
        x = x.mean((2, 3)) if self.global_pool == 'avg' else x.amax((2, 3))
        return self.head(x)


@register_model
def mininext_tiny(pretrained=False, **kwargs):
    return MiniNeXt(**dict(dict(depth=2, dim=8), **kwargs))


parser = argparse.ArgumentParser()
parser.add_argument('--model', default='mininext_tiny')
parser.add_argument('--torchcompile', nargs='?', type=str, default='eager', const='eager')
parser.add_argument('--drop-path', type=float, default=0.1)
args = parser.parse_args([])

model = create_model(args.model, num_classes=5, drop_path_rate=args.drop_path)
if args.torchcompile:
    model = torch.compile(model, backend=args.torchcompile)
for size in (16, 18):
    loss = model(torch.randn(2, 3, size, size)).logsumexp(1).mean()
    loss.backward()
    _logger.warning('size %d loss %.3f', size, loss.item())
