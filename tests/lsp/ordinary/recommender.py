import torch
from torch import nn


class TwoTower(nn.Module):
    def __init__(self, users=10, items=10, d=4):
        super().__init__()
        self.user = nn.EmbeddingBag(users, d, mode="mean")
        self.item = nn.Embedding(items, d)
        self.bias = nn.Parameter(torch.zeros(items))
        self.temperature = nn.Parameter(torch.tensor(0.07))

    def forward(self, history, offsets, item):
        u = nn.functional.normalize(self.user(history, offsets), dim=-1)
        v = nn.functional.normalize(self.item(item), dim=-1)
        logits = u @ v.T / self.temperature.clamp(min=0.01) + self.bias[item]
        return logits

    def recommend(self, history, offsets, k=3):
        u = self.user(history, offsets)
        scores = u @ self.item.weight.T
        seen = set(history.tolist())  # breaks
        best = [i for i in scores[0].argsort(descending=True).tolist() if i not in seen]  # breaks
        return best[:k]


model = TwoTower()
model.compile(backend="eager")
recommend = torch.compile(model.recommend, backend="eager")
model(torch.tensor([1, 2, 3]), torch.tensor([0, 2]), torch.tensor([4, 5]))
recommend(torch.tensor([1, 2]), torch.tensor([0]))
