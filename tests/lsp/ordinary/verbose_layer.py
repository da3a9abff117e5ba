import torch


@torch.compile(backend="eager")
def layer(x, w, verbose=True):
    h = x @ w
    if verbose:
        print("hidden", h.shape, h.mean())  # breaks
    h = h.relu()
    print(f"sparsity {(h == 0).float().mean():.2f}")  # breaks
    return h


w = torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
print(layer(torch.tensor([[1.0, 2.0]]), w))
print(layer(torch.tensor([[3.0, 2.0]]), w, verbose=False))
