"""Functions with guards that torch can save with compiled code, and with guards that it cannot, and their arguments."""

import collections
import enum
import functools
import threading
import weakref

import torch

SCALE = 3
TENSOR = torch.ones(2)


class Color(enum.Enum):
    RED = 1


class Settings:
    def __init__(self):
        self.scale = 2

    def scaled(self, x):
        return x * self.scale


class Locked(Settings):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


class Doubled(torch.Tensor):
    pass


class Layers(torch.nn.Module):
    def __init__(self, activation=torch.relu):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(2))
        self.activation = activation
        self.lock = threading.Lock()

    def forward(self, x):
        for layer in self.layers:
            x = self.activation(layer(x))  #: layer
        return x * SCALE


def local_classes():
    class Inner:
        def __init__(self):
            self.scale = 2

    class Model(torch.nn.Module):
        def forward(self, x):
            return x + self.training

    return Inner(), Model(), collections.namedtuple("Pair", "first second")


def closed_over(factor, function):
    def inner(x):
        return function(x) * factor  #: closed_over

    return inner


def hooked():
    model = Layers()
    model.register_forward_hook(lambda module, arguments, output: output * 2)
    return model


def applied(x, model):
    return model(x)  #: applied


def global_values(x):
    return x * SCALE + TENSOR  #: global


def called(x, function):
    return function(x) + 1  #: called


def attribute(x, settings):
    return x * settings.scale  #: attribute


def method(x, settings):
    return settings.scaled(x)


def same(x, one, other):
    return x + 1 if one is other else x  #: same


def member(x, color):
    return x + 1 if color is Color.RED else x


def referred(x, reference):
    return x * reference().scale  #: referred


def table(x, numbers):
    for key, number in numbers.items():
        x = x * number + len(key)
    return x


def numbers(x, listed, pair):
    return x * sum(listed) + pair[0]


def named(x, pair):
    return x + pair.first  #: named


def sizes(x, y):
    return x + y if x.shape[0] > 3 else x


def tree(x, leaves):
    return torch.utils._pytree.tree_map(lambda leaf: leaf + x, leaves)


def double(x):
    return x * 2


INNER, MODEL, PAIR = local_classes()
SETTINGS = Settings()
ONE, MANY = torch.ones(2), torch.ones(5, 2)


def with_gradient():
    weight = torch.nn.Parameter(torch.ones(3))
    weight.grad = torch.ones(3)
    return weight


CALLS = {
    "global": (global_values, (ONE,)),
    "function": (called, (ONE, double)),
    "local function": (called, (ONE, closed_over(4, double))),
    "partial": (called, (ONE, functools.partial(torch.add, ONE))),
    "builtin": (called, (ONE, abs)),
    "closure": (closed_over(4, double), (ONE,)),
    "attribute": (attribute, (ONE, SETTINGS)),
    "not picklable": (attribute, (ONE, Locked())),
    "local class": (attribute, (ONE, INNER)),
    "method": (method, (ONE, SETTINGS)),
    "identity": (same, (ONE, SETTINGS, SETTINGS)),
    "member": (member, (ONE, Color.RED)),
    "weakref": (referred, (ONE, weakref.ref(SETTINGS))),
    "dict": (table, (ONE, {"a": 1, "b": 2.5})),
    "sequences": (numbers, (ONE, [1, 2], (3, 4))),
    "local named tuple": (named, (ONE, PAIR(1, 2))),
    "sizes": (sizes, (MANY, MANY)),
    "subclass": (double, (ONE.as_subclass(Doubled),)),
    "tree": (tree, (ONE, {"a": [ONE, ONE]})),
    "forward": (Layers.forward, (Layers(), MANY)),
    "module": (applied, (MANY, Layers())),
    "local module": (applied, (ONE, MODEL)),
    "module with a local function": (applied, (MANY, Layers(closed_over(4, double)))),
    "gradient": (double, (with_gradient(),)),
    "autocast": (double, (ONE,)),
    "inference": (double, (ONE,)),
    "no grad": (double, (ONE,)),
    "default device": (double, (ONE,)),
    "hooks": (applied, (MANY, hooked())),
}
"""The function to compile and the arguments of its call."""
MODES = {
    "autocast": lambda: torch.autocast("cpu"),
    "inference": torch.inference_mode,
    "no grad": torch.no_grad,
    "default device": lambda: torch.device("cpu"),
}
"""The mode in which a function is called."""
