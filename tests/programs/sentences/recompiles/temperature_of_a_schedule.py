"""A temperature that falls from epoch to epoch, and a last batch that is smaller."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)
        self.temperature = 1.0

    def forward(self, x):
        return torch.softmax(self.linear(x) / self.temperature, -1)


torch.manual_seed(0)
net = torch.compile(Net())
for epoch in range(4):
    net.temperature = 1.0 / (epoch + 1)
    for rows in (8, 8, 5):
        print(round(net(torch.ones(rows, 16)).amax().item(), 4))

# function: Net.forward
# compiles: 3
# over: yes
# next: net(torch.ones(11, 16))
# remedy: 17 -> net = torch.compile(Net(), dynamic=True)   -> compiles 1
