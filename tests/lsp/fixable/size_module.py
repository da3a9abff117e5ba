import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 2)

    def forward(self, x):
        return self.lin(x).relu()


torch.manual_seed(0)
model = torch.compile(Net(), backend="aot_eager")
criterion = nn.MSELoss()
for n in (8, 8, 5):
    batch = torch.ones(n, 4)
    loss = criterion(model(batch), torch.zeros(n, 2))
    loss.backward()
print(round(loss.item(), 4))
