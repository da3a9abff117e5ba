"""A compiled model beside a DataLoader with workers, which are processes."""

import torch
from torch.utils.data import DataLoader, TensorDataset


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(x).relu()  #: traced


if __name__ == "__main__":
    model = torch.compile(Model(), backend="eager")
    loader = DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=4, num_workers=2)
    print("batches", sum(1 for (batch,) in loader if model(batch).shape == (4, 2)))  #: batches
