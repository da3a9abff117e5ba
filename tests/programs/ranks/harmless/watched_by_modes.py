"""Nothing of the program runs, and nothing lives longer, because values are read as its collectives begin."""

import weakref

import torch
import torch.distributed as dist
from job import compiled, end, start
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

rank, world = start()
seen: list[str] = []


class Functions(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        seen.append(f"function {function.__name__}")
        return function(*args, **(kwargs or {}))


class Operators(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        seen.append(f"operator {function}")
        return function(*args, **(kwargs or {}))


class Shy:
    """Each look at it is noted."""

    def __init__(self):
        self.level = 3

    def __getattr__(self, name):
        seen.append(f"attribute {name}")
        raise AttributeError(name)

    @property
    def __class__(self):
        seen.append("class")
        return Shy

    @property
    def limit(self):
        seen.append("property")
        return 5

    def __eq__(self, other):
        seen.append("equality")
        return False

    def __hash__(self):
        return 1


class Kept:
    pass


@compiled
def step(x, scale):
    return (x * scale).sum()


def reduced(shy, scalar, step_number):
    kept = Kept()
    kept.number = step_number
    if step_number % 2 == 0 and kept.number < 10:
        with torch.no_grad():
            dist.all_reduce(scalar)
    else:
        dist.all_reduce(scalar)
    return weakref.ref(kept), sum(each == "property" for each in seen)


step(torch.ones(4), 2.0)
shy, scalar = Shy(), torch.ones(1)
with Functions(), Operators():
    for number in range(4):
        alive, _ = reduced(shy, scalar, number)
        assert alive() is None
        assert not [each for each in seen if not each.startswith(("function", "operator"))], seen
assert len([each for each in seen if "item" in each or "_local_scalar" in each]) == 0, seen
assert scalar.item() == world**4
end(len(seen) == 0 or sorted({*seen})[:3])
