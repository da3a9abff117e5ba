import torch


@torch.compile(backend="eager")
def assign(x, centers):
    return torch.cdist(x, centers).argmin(1)


@torch.compile(backend="eager")
def lloyd(x, k=3, iters=3):
    centers = x[torch.randperm(x.shape[0])[:k]]
    labels = torch.zeros(x.shape[0], dtype=torch.long)
    for _ in range(iters):
        new = torch.cdist(x, centers).argmin(1)
        if torch.equal(new, labels):  # breaks
            break
        labels = new
        for c in range(k):
            members = x[labels == c]
            if members.shape[0] > 0:
                centers[c] = members.mean(0)
    counts = torch.bincount(labels)
    return centers, labels, counts


assign(torch.randn(8, 2), torch.randn(3, 2))
lloyd(torch.randn(12, 2))
