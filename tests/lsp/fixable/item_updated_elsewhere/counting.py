import torch


def next_turn(turns):
    turns.add_(1)


def multiplied(x, turns):
    turn = turns.item()
    next_turn(turns)
    return x * turn
