"""More programs that are compiled again, by what else guards can be on; as those in `recompiled`."""

import collections
import dataclasses
import enum
import functools

import torch

from tests.programs.traced.recompiled import calls

X = torch.ones(3)


def laid_out(x):
    return x * 2  #: layout


def main_layout():
    x = torch.ones(2, 3, 4, 4)
    return calls(laid_out, (x,), (x.to(memory_format=torch.channels_last),))


def cast(x, dtype):
    return x.to(dtype)  #: dtype_argument


def main_dtype_argument():
    return calls(cast, (X, torch.float64), (X, torch.float16))


class Dropped(torch.nn.Module):
    def forward(self, x):
        return x * 2 if self.training else x  #: training


def main_training():
    module = Dropped()
    compiled = torch.compile(module, backend="eager")
    first = compiled(X)
    module.eval()
    return [first, compiled(X)]


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def coloured(x, color):
    return x + 1 if color is Color.RED else x - 1  #: enum


def main_enum():
    return calls(coloured, (X, Color.RED), (X, Color.BLUE))


def viewed(x, shape):
    return x.view(*shape)  #: tuple


def main_tuple():
    x = torch.ones(6)
    return calls(viewed, (x, (2, 3)), (x, (3, 2)))


def configured(x, config):
    return x * config["scale"]  #: dict_value


def main_dict_value():
    return calls(configured, (X, {"scale": 2}), (X, {"scale": 5}))


@dataclasses.dataclass
class Settings:
    scale: int


def with_settings(x, settings):
    return x * settings.scale  #: dataclass


def main_dataclass():
    return calls(with_settings, (X, Settings(2)), (X, Settings(5)))


def defaulted(x, scale=2):
    return x * scale  #: default


def main_default():
    return calls(defaulted, (X,), (X, 5))


def main_one():
    return calls(laid_out, (torch.ones(1),), (torch.ones(5),))


def main_zero():
    return calls(laid_out, (torch.ones(5),), (torch.ones(0),))


def asking(x):
    return x * 2 if x.shape[0] > 3 else x * 3  #: one_asked


def main_one_asked():
    return calls(asking, (torch.ones(1),), (torch.ones(5),))


def reshaped(x):
    return x.view(x.shape[0], -1).mean(1)  #: one_viewed


def main_one_viewed():
    return calls(reshaped, (torch.ones(1, 3, 2),), (torch.ones(5, 3, 2),))


def summed(rows):
    return sum(row.sum() for row in rows["rows"])  #: nested_length


def main_nested_length():
    return calls(summed, ({"rows": [X, X]},), ({"rows": [X, X, X]},))


class Grown(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.ReLU()])

    def forward(self, x):
        for layer in self.layers:  #: modules
            x = layer(x) + 1
        return x


def main_modules():
    module = Grown()
    compiled = torch.compile(module, backend="eager")
    first = compiled(X)
    module.layers.append(torch.nn.ReLU())
    return [first, compiled(X)]


def buffered(x, module):
    return x * module.scale.sum()  #: buffer


def main_buffer():
    module = torch.nn.Module()
    module.register_buffer("scale", torch.ones(2))
    compiled = torch.compile(buffered, backend="eager")
    first = compiled(X, module)
    module.scale = torch.ones(4)
    return [first, compiled(X, module)]


def bound(x, function):
    return function(x)  #: called


def scaled(scale, x):
    return x * scale  #: partial


def main_partial():
    return calls(bound, (X, functools.partial(scaled, 2)), (X, functools.partial(scaled, 5)))


def made(x):
    return x + torch.zeros(3)


def main_default_dtype():
    compiled = torch.compile(made, backend="eager")
    first = compiled(X)
    torch.set_default_dtype(torch.float64)
    try:
        return [first, compiled(X)]
    finally:
        torch.set_default_dtype(torch.float32)


def number(x, n):
    return x * n  #: type_of_number


def main_type_of_number():
    return calls(number, (X, 2), (X, 2.5))


def sliced(x, part):
    return x[part] * 2  #: slice


def main_slice():
    return calls(sliced, (torch.ones(6), slice(0, 2)), (torch.ones(6), slice(0, 4)))


def both(x, y):
    x = x + 1
    return x + y  #: alias


def main_alias():
    return calls(both, (X, X), (X, torch.ones(3)))


CONFIG = {"scale": 2}


def with_config(x):
    return x * CONFIG["scale"]  #: global_dict


def main_global_dict():
    CONFIG["scale"] = 2
    compiled = torch.compile(with_config, backend="eager")
    first = compiled(X)
    CONFIG["scale"] = 5
    return [first, compiled(X)]


class Scaled:
    scale = 2


def by_class(x):
    return x * Scaled.scale  #: class_attribute


def main_class_attribute():
    Scaled.scale = 2
    compiled = torch.compile(by_class, backend="eager")
    first = compiled(X)
    Scaled.scale = 5
    return [first, compiled(X)]


def counted(x, numbers):
    for _ in numbers:  #: range
        x = x + 1
    return x


def main_range():
    return calls(counted, (X, range(2)), (X, range(3)))


def keyed(x, **options):
    return x * len(options)  #: keywords


def main_keywords():
    compiled = torch.compile(keyed, backend="eager")
    return [compiled(X, a=1), compiled(X, a=1, b=2)]


Pair = collections.namedtuple("Pair", ["x", "scale"])


def unpacked(pair):
    return pair.x * pair.scale  #: named_tuple


def main_named_tuple():
    return calls(unpacked, (Pair(X, 2),), (Pair(X, 5),))


def member(x, names):
    return x + 1 if "a" in names else x - 1  #: set


def main_set():
    return calls(member, (X, {"a"}), (X, {"b"}))


def turned(x, z):
    return x * z.real  #: complex


def main_complex():
    return calls(turned, (X, 2 + 1j), (X, 5 + 1j))


def main_inference():
    compiled = torch.compile(laid_out, backend="eager")
    first = compiled(X)
    with torch.inference_mode():
        return [first, compiled(torch.ones(3))]


def main_static():
    compiled = torch.compile(laid_out, backend="eager")
    first, second = torch.ones(3), torch.ones(4)
    torch._dynamo.mark_static(first, 0)
    torch._dynamo.mark_static(second, 0)
    return [compiled(first), compiled(second)]
