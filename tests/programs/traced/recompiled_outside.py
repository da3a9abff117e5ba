"""Programs that are compiled again, written by someone who did not know what `why` tells."""

import collections
import enum
import os

import numpy
import torch

from tests.programs.traced.recompiled import calls

X = torch.ones(3)


def compiled(function, **options):
    return torch.compile(function, backend="eager", **options)


def on_a_condition(x, t):
    return x + t if t > 0.3 else x - t  #: float_condition


def main_float_condition():
    return calls(on_a_condition, (X, 0.5), (X, 0.25))


def product(x, y):
    return x @ y  #: product


def main_product():
    return calls(product, (torch.ones(3, 4), torch.ones(4, 2)), (torch.ones(3, 5), torch.ones(5, 2)))


def of_numpy(array):
    return numpy.sin(array)  #: numpy


def main_numpy():
    return calls(of_numpy, (numpy.ones(3),), (numpy.ones(5),))


def masked(x, mask):
    return x if mask is None else x * mask  #: tensor_or_none


def main_tensor_or_none():
    return calls(lambda x, mask: masked(x, mask) + 1, (X, torch.ones(3)), (X, None))


class Special(torch.Tensor):
    pass


def doubled(x):
    return x * 2  #: doubled


def main_subclass():
    plain, special = calls(doubled, (X,), (X.as_subclass(Special),))
    return [plain, special.as_subclass(torch.Tensor)]


def main_no_subclass():
    special, plain = calls(doubled, (X.as_subclass(Special),), (X,))
    return [plain, special.as_subclass(torch.Tensor)]


def main_function_mode():
    once = compiled(doubled)
    first = once(X)
    with torch.device("cpu"):
        return [first, once(X)]


def main_autocast_dtype():
    once, results = compiled(doubled), []
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype=dtype):
            results.append(once(X))
    return results


class Scaled:
    scale = 2

    def run(self, x):
        return x * self.scale  #: class_of_object


def main_class_of_object():
    Scaled.scale = 2
    scaled = Scaled()
    once = compiled(lambda x: scaled.run(x))
    first = once(X)
    Scaled.scale = 5
    return [first, once(X)]


def queued(x, queue):
    for number in queue:  #: deque
        x = x + number
    return x


def main_deque():
    return calls(queued, (X, collections.deque([2, 3])), (X, collections.deque([2, 3, 4])))


def counted(x, table):
    return x + len(table)  #: default_dict


def main_default_dict():
    one, two = collections.defaultdict(list, a=[]), collections.defaultdict(list, a=[], b=[])
    return calls(counted, (X, one), (X, two))


def stepped(x):
    return x * 2 if x.grad is None else x - x.grad  #: gradient


def main_gradient():
    x, once = torch.ones(3, requires_grad=True), compiled(stepped)
    first = once(x)
    x.grad = torch.ones(3)
    return [first, once(x)]


class Access(enum.Flag):
    READ = 1
    WRITE = 2


def allowed(x, access):
    return x + 1 if access is Access.WRITE else x - 1  #: flag


def main_flag():
    return calls(allowed, (X, Access.READ), (X, Access.READ | Access.WRITE))


def main_range_of_mark():
    x = torch.ones(4)
    torch._dynamo.mark_dynamic(x, 0, min=2, max=16)
    return calls(doubled, (x,), (torch.ones(40),))


def main_marked_then_one():
    x = torch.ones(4)
    torch._dynamo.mark_dynamic(x, 0)
    return calls(doubled, (x,), (torch.ones(1),))


def divisible(x, n):
    return x + n if n % 4 == 0 else x - n  #: int_condition


def main_int_condition():
    once = compiled(divisible, dynamic=True)
    return [once(X, 8), once(X, 6)]


def of_environment(x):
    return x + 1 if os.environ["MODE"] == "a" else x - 1  #: environment


def main_environment():
    once, before, results = compiled(of_environment), os.environ.get("MODE"), []
    for mode in ("a", "b"):
        os.environ["MODE"] = mode
        results.append(once(X))
    if before is None:
        del os.environ["MODE"]
    return results


def main_two_sizes():
    return calls(doubled, (torch.ones(3, 4),), (torch.ones(5, 6),))
