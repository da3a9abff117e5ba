class Meter:
    """Counts calls."""

    def __init__(self):
        self.count = 0

    def update(self, x):
        self.count += 1

    def mean(self):
        return self.count / 2


def summary(x):
    return {"mean": x.mean().item(), "shape": list(x.shape)}  # breaks
