_BACKBONES, _HEADS = {}, {}


def backbone(name):
    return lambda cls: _BACKBONES.setdefault(name, cls)


def head(name):
    return lambda cls: _HEADS.setdefault(name, cls)


def build(cfg):
    import torch.nn as nn
    bb = _BACKBONES[cfg["backbone"]["type"]](**{k: v for k, v in cfg["backbone"].items() if k != "type"})
    heads = nn.ModuleDict()
    for h in cfg["heads"]:
        h = dict(h)
        name, kind = h.pop("name"), h.pop("type")
        heads[name] = _HEADS[kind](bb.out_channels, **h)
    return bb, heads
