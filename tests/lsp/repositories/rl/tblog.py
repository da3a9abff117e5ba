import datetime
import sys


class Writer:
    """Pretends to be a SummaryWriter"""

    def __init__(self, stream=None):
        self.stream = stream or sys.stdout
        self.scalars = {}

    def add_scalar(self, tag, value, step):
        self.scalars.setdefault(tag, []).append((step, float(value)))  # breaks

    def text(self, msg):
        stamp = datetime.datetime.now().strftime("%H:%M:%S")  # breaks
        self.stream.write(f"[{stamp}] {msg}\n")


class NullWriter(Writer):
    def add_scalar(self, *a):
        pass

    def text(self, msg):
        pass
