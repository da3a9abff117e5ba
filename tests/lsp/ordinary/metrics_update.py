import torch


class ConfusionMatrix:
    def __init__(self, classes):
        self.matrix = torch.zeros(classes, classes, dtype=torch.long)

    def update(self, pred, target):
        keep = (target >= 0) & (target < self.matrix.shape[0])
        index = self.matrix.shape[0] * target[keep] + pred[keep]  # breaks
        self.matrix += torch.bincount(index, minlength=self.matrix.numel()).view_as(self.matrix)  # breaks

    def compute(self):
        correct = self.matrix.diag().sum()
        total = self.matrix.sum()
        return (correct / total).item() if total > 0 else 0.0  # breaks


metric = ConfusionMatrix(3)
update = torch.compile(metric.update, backend="eager")
compute = torch.compile(metric.compute, backend="eager")
update(torch.tensor([0, 1, 2, 1]), torch.tensor([0, 1, 1, -1]))
compute()
