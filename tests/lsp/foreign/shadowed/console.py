def print(*values):
    """Nothing is written."""


def open(x):
    return x + 1
