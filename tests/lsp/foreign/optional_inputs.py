"""Comparisons with None and with text, as people write them who come from other languages."""

import torch


@torch.compile(backend="eager", fullgraph=True)
def attend(q, k, bias=None, reduction="mean"):
    scores = torch.matmul(q, k.t())
    mask = torch.ones_like(scores)
    if mask != None:
        scores = scores * mask
    if bias == None:
        bias = torch.zeros_like(scores)
    if bias != None and scores.shape == bias.shape:
        scores = scores + bias
    if reduction == "mean":
        return scores.mean()
    elif reduction == "sum":
        return scores.sum()
    return scores


if __name__ == "__main__":
    attend(torch.randn(3, 4), torch.randn(3, 4))
