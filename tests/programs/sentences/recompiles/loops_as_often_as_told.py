"""A loop runs as often as an argument says, over rows of several lengths."""

import torch


@torch.compile
def refined(row, rounds):
    for number in range(rounds):
        row = torch.tanh(row + number)
    return row.mean()


torch.manual_seed(0)
for length, rounds in [(8, 1), (16, 2), (24, 3), (32, 4)]:
    row = torch.randn(length)
    print(refined(row, rounds).item())

# function: refined
# compiles: 4
# over: no
# next: refined(torch.randn(40), 5)
# best: none
