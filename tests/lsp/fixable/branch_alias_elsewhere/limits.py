import torch


def lowered(signal):
    out = signal
    if out.max() > 20:
        out = out / 20
    return out
