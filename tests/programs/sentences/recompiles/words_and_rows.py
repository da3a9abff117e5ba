"""Scores of the words of a list, in the first rows of a tensor: the number of both changes in one call."""

import torch


@torch.compile
def scores(x, words, weight):
    n = len(words)
    return (x[:n] * weight * n).sum()


for words, rows in ((["a", "b", "c"], 5), (["a", "b", "c"], 5), (["a", "b"], 6), (["a"] * 6, 7)):
    print(scores(torch.ones(rows, 3), words, torch.ones(3)).item())

# function: scores
# compiles: 3
# over: no
# next: scores(torch.ones(9, 3), ["a"] * 4, torch.ones(3))
# best: none
