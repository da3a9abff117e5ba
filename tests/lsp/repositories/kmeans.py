import torch


def assign(x, c):
    return torch.cdist(x, c).argmin(1)


def update(x, labels, k):
    new = []
    for j in range(k):
        members = x[labels == j]  # breaks
        if len(members) == 0:
            new.append(x[torch.randint(len(x), (1,))].squeeze(0))
        else:
            new.append(members.mean(0))
    return torch.stack(new)


class KMeans:
    def __init__(self, k, tol=1e-3, max_iter=10, compile=True):
        self.k, self.tol, self.max_iter = k, tol, max_iter
        if compile:
            self._step = torch.compile(self._step, backend="eager")
            self._fit_fast = torch.compile(self._fit_fast, backend="eager")

    def _step(self, x, c):
        labels = assign(x, c)
        new_c = update(x, labels, self.k)
        return new_c, (new_c - c).norm()

    def fit(self, x):
        c = x[: self.k].clone()
        for it in range(self.max_iter):
            c, shift = self._step(x, c)
            if shift < self.tol:
                break
        self.centers = c
        return self

    def _fit_fast(self, x):
        """same thing with one-hot matmul"""
        c = x[: self.k].clone()
        shift = torch.tensor(float("inf"))
        n_iter = 0
        while shift > self.tol and n_iter < self.max_iter:  # breaks
            onehot = torch.nn.functional.one_hot(assign(x, c), self.k).float()
            cnt = onehot.sum(0).clamp(min=1)
            new_c = (onehot.t() @ x) / cnt[:, None]
            shift = (new_c - c).abs().max()
            c = new_c
            n_iter += 1
        return c, n_iter


@torch.compile(backend="eager")
def inertia(x, c):
    return torch.cdist(x, c).min(1).values.pow(2).sum()


torch.manual_seed(0)
x = torch.cat([torch.randn(10, 2), torch.randn(10, 2) + 4])
km = KMeans(2).fit(x)
print(inertia(x, km.centers).item())
c, n = km._fit_fast(x)
print(c.shape, n)
