import torch


def loss_fn(model, criterion, x, y):
    out = model(x)
    loss = criterion(out, y)
    if loss > 100:  # breaks
        loss = loss.clamp(max=100)
    print("loss", loss.item())  # breaks
    return loss


@torch.compile(backend="eager")
def fit_step(net, x, y):
    out = net(x)
    error = out - y
    mse = error.pow(2).mean()
    if mse < 1e-6:  # breaks
        return mse
    mse.backward()  # breaks
    return mse.item()  # breaks


step = torch.compile(loss_fn, backend="eager")
step(torch.nn.Linear(4, 1), torch.nn.MSELoss(), torch.randn(2, 4), torch.randn(2, 1))
fit_step(torch.nn.Linear(4, 1), torch.randn(2, 4), torch.randn(2, 1))
