import torch
import torch.nn.functional as F
from torch import nn


class NTXent(nn.Module):
    def __init__(self, temperature=0.5):
        super().__init__()
        self.temperature = temperature

    def forward(self, a, b):
        n = a.shape[0]
        z = F.normalize(torch.cat([a, b]), dim=1)
        sim = z @ z.t() / self.temperature
        mask = torch.eye(2 * n, dtype=torch.bool)
        negatives = sim[~mask].view(2 * n, -1)  # breaks
        positives = torch.cat([sim.diag(n), sim.diag(-n)])
        return (torch.logsumexp(negatives, 1) - positives).mean()


class SimCLR(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 4)
        self.criterion = NTXent()

    def forward(self, x1, x2):
        loss = self.criterion(self.encoder(x1), self.encoder(x2))
        if torch.isnan(loss).item():  # breaks
            print("nan loss")
        return loss


simclr = torch.compile(SimCLR(), backend="eager")
simclr(torch.randn(3, 8), torch.randn(3, 8)).backward()
