"""Documents are read in pieces of one size, and one rank has a document with a piece more."""

import torch
import torch.nn.functional as F
from job import compiled, end, start, total

rank, _ = start()
LENGTHS = [(10, 12), (7, 9), (13, 20), (8, 6)]
linear = torch.nn.Linear(3, 3)


@compiled
def read(document):
    result = document.new_zeros(3)
    for begin in range(0, document.size(0), 8):  # PARTS document.size()[0] is
        piece = document[begin : begin + 8]
        piece = F.pad(piece, (0, 0, 0, 8 - piece.size(0)))
        result = result + total(linear(piece).tanh()).mean(0)
    return result


with torch.no_grad():
    for lengths in LENGTHS:
        result = read(torch.ones(lengths[rank], 3))
end(result.sum().item())
