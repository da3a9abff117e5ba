import torch
from torch import nn


class Callback:
    def on_batch_end(self, loss):
        pass


class PrintLoss(Callback):
    def on_batch_end(self, loss):
        print("loss", loss.item())  # breaks


class Fit:
    def __init__(self, model, callbacks):
        self.model = model
        self.callbacks = callbacks
        self.optimizer = torch.optim.SGD(model.parameters(), 0.1)

    def batch(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()  # breaks
        loss.backward()  # breaks
        self.optimizer.step()  # breaks
        for callback in self.callbacks:
            callback.on_batch_end(loss)
        return loss


fit = Fit(nn.Linear(4, 1), [PrintLoss()])
batch = torch.compile(fit.batch, backend="eager")
batch(torch.randn(2, 4), torch.randn(2, 1))
