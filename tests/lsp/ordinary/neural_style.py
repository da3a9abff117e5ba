import torch
from torch import nn


def gram(x):
    b, c, h, w = x.size()
    f = x.view(b * c, h * w)
    return (f @ f.t()).div(b * c * h * w)


class StyleLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = gram(target).detach()
        self.loss = None

    def forward(self, x):
        self.loss = nn.functional.mse_loss(gram(x), self.target)
        return x


features = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), StyleLoss(torch.randn(1, 4, 4, 4)), nn.ReLU())
image = torch.randn(1, 3, 4, 4, requires_grad=True)
lbfgs = torch.optim.Adam([image], lr=0.1)


@torch.compile(backend="eager")
def closure():
    lbfgs.zero_grad()  # breaks
    features(image)
    loss = features[1].loss
    loss.backward()
    print("style", loss.item())
    return loss


closure()
