import torch
import torch.nn.functional as F


@torch.compile(backend="eager")
def batch_hard(embeddings, labels, margin=0.2):
    distance = torch.cdist(embeddings, embeddings)
    same = labels[:, None] == labels[None, :]
    positive = (distance * same).max(dim=1).values
    negative = distance.masked_fill(same, 1e9).min(dim=1).values
    losses = F.relu(positive - negative + margin)
    active = losses[losses > 0]  # breaks
    if active.numel() == 0:
        return losses.sum()
    return active.mean()


@torch.compile(backend="eager")
def semi_hard(anchor, pos, neg):
    ap = (anchor - pos).pow(2).sum(1)
    an = (anchor - neg).pow(2).sum(1)
    chosen = torch.nonzero(an > ap).flatten()  # breaks
    return F.triplet_margin_loss(anchor[chosen], pos[chosen], neg[chosen])


batch_hard(torch.randn(4, 3), torch.tensor([0, 0, 1, 1]))
semi_hard(torch.randn(8, 3), torch.randn(8, 3), torch.randn(8, 3))
