"""Small programs that are compiled again: each `main_…` calls one compiled function until a guard fails.

The line that needed the guard which fails has the label of the program.
"""

import functools

import torch
from torch._dynamo.comptime import comptime


def calls(function, *arguments, **options):
    """Compile a function and call it with each of these arguments."""
    compiled = torch.compile(function, backend="eager", **options)
    return [compiled(*each) for each in arguments]


def sized(x, y):
    z = y + 1
    return x * 2 + z.sum()  #: size


def main_size():
    return calls(sized, (torch.ones(3), torch.ones(2)), (torch.ones(4), torch.ones(2)))


def main_size_of_dynamic():
    return calls(
        condition,
        (torch.ones(3, 2),),
        (torch.ones(20, 2),),
        dynamic=True,
    )


def condition(x):
    y = x + 1
    if y.shape[0] > 8:  #: bound
        return y * 2
    return y * 3


def pinned(x):
    n = x.shape[0]  #: pinned_first
    if n == 3:  #: pinned
        return x * 2
    return x * int(n)


def main_pinned():
    return calls(pinned, (torch.ones(3),), (torch.ones(4),))


def strided(x):
    return x + 1  #: stride


def main_stride():
    return calls(strided, (torch.ones(4, 6),), (torch.ones(6, 4).t(),))


def typed(x):
    return x.cos()  #: dtype


def main_dtype():
    return calls(typed, (torch.ones(3),), (torch.ones(3, dtype=torch.float64),))


def ranked(x):
    return x.cos()  #: rank


def main_rank():
    return calls(ranked, (torch.ones(3),), (torch.ones(3, 2),))


def grown(x):
    return x.cos()  #: requires_grad


def main_requires_grad():
    return calls(grown, (torch.ones(3),), (torch.ones(3, requires_grad=True),))


def scaled(x, n):
    return x * n  #: int


def main_int():
    return calls(scaled, (torch.ones(3), 2), (torch.ones(3), 5))


def main_int_three_times():
    return calls(repeated, *((torch.ones(3), n) for n in (2, 5, 7)))


def repeated(x, n):
    for _ in range(n):  #: loop
        x = x + 1
    return x


def weighted(x, f):
    return x * f  #: float


def main_float():
    return calls(weighted, (torch.ones(3), 0.5), (torch.ones(3), 0.25))


def flagged(x, flag):
    return x + 1 if flag else x - 1  #: bool


def main_bool():
    return calls(flagged, (torch.ones(3), True), (torch.ones(3), False))


def optional(x, y):
    if y is None:  #: none
        return x + 1
    return x + y


def main_none():
    return calls(optional, (torch.ones(3), None), (torch.ones(3), torch.ones(3)))


def named(x, mode):
    return x.cos() if mode == "cos" else x.sin()  #: str


def main_str():
    return calls(named, (torch.ones(3), "cos"), (torch.ones(3), "sin"))


class Layer(torch.nn.Module):
    def __init__(self, step):
        super().__init__()
        self.step = step
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.weight + self.step  #: attribute


def main_attribute():
    layer = Layer(2)
    compiled = torch.compile(layer, backend="eager")
    first = compiled(torch.ones(3))
    layer.step = 5
    return [first, compiled(torch.ones(3))]


SCALE = 2


def with_global(x):
    return x * SCALE  #: global


def main_global():
    global SCALE
    SCALE = 2
    compiled = torch.compile(with_global, backend="eager")
    first = compiled(torch.ones(3))
    SCALE = 5
    return [first, compiled(torch.ones(3))]


def in_grad_mode(x):
    return x * 2


def main_grad_mode():
    compiled = torch.compile(in_grad_mode, backend="eager")
    first = compiled(torch.ones(3))
    with torch.no_grad():
        return [first, compiled(torch.ones(3))]


def main_autocast():
    compiled = torch.compile(in_grad_mode, backend="eager")
    first = compiled(torch.ones(3))
    with torch.autocast("cpu"):
        return [first, compiled(torch.ones(3))]


def listed(xs):
    return sum(x.sum() for x in xs)  #: length


def main_length():
    return calls(listed, ([torch.ones(3)] * 2,), ([torch.ones(3)] * 3,))


def looked_up(table):
    return table["a"] + len(table)  #: keys


def main_keys():
    return calls(looked_up, ({"a": torch.ones(3), "b": 1},), ({"a": torch.ones(3), "b": 1, "c": 2},))


def items_of(table):
    total = 0
    for name, value in table.items():  #: key_order
        total = total + value * len(name)
    return total


def main_key_names():
    return calls(items_of, ({"a": torch.ones(3)},), ({"bb": torch.ones(3)},))


def double(x):
    return x * 2


def triple(x):
    return x * 3


def applied(x, function):
    return function(x)  #: identity


def main_identity():
    return calls(applied, (torch.ones(3), double), (torch.ones(3), triple))


class Cat:
    legs = 4


class Bird:
    legs = 2


def walked(x, animal):
    return x * animal.legs  #: type


def main_type():
    return calls(walked, (torch.ones(3), Cat()), (torch.ones(3), Bird()))


def closed_over(n):
    def inner(x):
        return x * n  #: closure

    return inner


def main_closure():
    first, second = closed_over(2), closed_over(5)
    return [torch.compile(each, backend="eager")(torch.ones(3)) for each in (first, second)]


def in_both_backends(x):
    return x * 2


def main_backends():
    first = torch.compile(in_both_backends, backend="eager")(torch.ones(3))
    return [first, torch.compile(in_both_backends, backend="aot_eager")(torch.ones(3))]


def equal_sizes(x, y):
    if x.shape[0] == y.shape[0]:  #: relation
        return x.sum() + y.sum()
    return x.sum() - y.sum()


def main_relation():
    return calls(equal_sizes, (torch.ones(3), torch.ones(3)), (torch.ones(3), torch.ones(4)), dynamic=True)


def attributed(x, conf):
    if hasattr(conf, "extra"):  #: has_attribute
        return x + 1
    return x * 2


class Conf:
    pass


def main_has_attribute():
    rich = Conf()
    rich.extra = 1
    return calls(attributed, (torch.ones(3), Conf()), (torch.ones(3), rich))


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer(step) for step in (2, 5, 7))
        for layer in self.layers:
            layer.compile(backend="eager")

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def main_layers():
    return Stack()(torch.ones(3))


def main_optimizer():
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)

    @functools.partial(torch.compile, backend="eager")
    def step(x, optimizer):
        return x * optimizer.param_groups[0]["lr"]  #: optimizer

    first = step(torch.ones(3), optimizer)
    optimizer.param_groups[0]["lr"] = 0.01
    return [first, step(torch.ones(3), optimizer)]


class Momentum(torch.optim.Optimizer):
    def __init__(self, weight):
        super().__init__([weight], {})
        self.weight = weight

    @torch.no_grad()
    def step(self):
        state = self.state[self.weight]  #: first_step
        if len(state) == 0:
            state["mean"] = torch.zeros_like(self.weight)
        state["mean"].add_(self.weight.grad)
        self.weight.sub_(state["mean"])


def main_first_step():
    weight = torch.ones(3, requires_grad=True)
    optimizer = Momentum(weight)

    @functools.partial(torch.compile, backend="eager")
    def step(optimizer):
        optimizer.step()

    weight.grad = torch.ones(3)
    for _ in range(2):
        step(optimizer)
    return weight


def noisy(x, n):
    comptime(lambda ctx: None)
    return x * n  #: comptime


def main_comptime():
    return calls(noisy, (torch.ones(3), 2), (torch.ones(3), 5))


def broken(x, n):
    y = x + 1
    print(end="")  #: break
    return y * n  #: after_break


def main_after_break():
    return calls(broken, (torch.ones(3), 2), (torch.ones(3), 5))


def in_no_grad(x, n):
    with torch.no_grad():
        y = x * 2
        return y * n  #: inside


def main_inside():
    return calls(in_no_grad, (torch.ones(3), 2), (torch.ones(3), 5))


def shaped_and_scaled(x, n):
    return x * n  #: both


def main_both():
    return calls(shaped_and_scaled, (torch.ones(3), 2), (torch.ones(4), 5))


LAYERS = torch.nn.Sequential(torch.nn.ReLU())


def in_library(x):
    return LAYERS(x)


def main_library():
    return calls(in_library, (torch.ones(3),), (torch.ones(4),))


def main_freed():
    compiled = torch.compile(applied, backend="eager")
    first = compiled(torch.ones(3), eval("lambda x: x + 1"))
    return [first, compiled(torch.ones(3), double)]


def main_limit():
    with torch._dynamo.config.patch(recompile_limit=2):
        return calls(repeated, *((torch.ones(3), n) for n in (2, 5, 7)))


def asking(x, why):
    return x * why


def main_named_why():
    return calls(asking, (torch.ones(3), 2), (torch.ones(3), 5))


def main_reset():
    first = calls(sized, (torch.ones(3), torch.ones(2)))
    torch._dynamo.reset()
    return [first, calls(sized, (torch.ones(3), torch.ones(2)))]


def added(x, y):
    return x + y


def main_one_added():
    return calls(added, (torch.ones(1), torch.ones(5)), (torch.ones(5), torch.ones(5)))
