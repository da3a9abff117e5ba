import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(2))

    def forward(self, x):
        norms = []
        for layer in self.layers:
            x = layer(x)
            norms.append(x.norm())
        print("norms", *norms)
        x.mul_(2)
        return x


torch.manual_seed(0)
net = Net()
compiled = torch.compile(net, backend="eager")
with torch.no_grad():
    print(compiled(torch.ones(1, 2)))
