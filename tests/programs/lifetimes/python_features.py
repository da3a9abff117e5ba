"""Programs with what else Python and torch have: named tuples, dispatch, transforms, copies, generators, plugins."""

import collections
import contextlib
import copy
import functools
import gc
import sys
import types
import weakref

import torch


class Named:
    def __init__(self, name, scale=2.0):
        self.name, self.scale = name, scale

    def __del__(self):
        print("finalized", self.name)


def life(reference):
    return "dead" if reference() is None else "alive"


def program_namedtuple_arguments_with_inductor():
    Batch = collections.namedtuple("Batch", "x scale owner")

    @torch.compile
    def f(batch, *, extra=None):
        y = batch.x * batch.scale + batch.owner.scale
        return y if extra is None else y + extra["bias"]

    for n in (2, 3, 4):
        owner = Named(f"owner {n}")
        batch = Batch(torch.ones(n, 3), n, owner)
        reference = weakref.ref(batch.x)
        print(f(batch, extra=collections.OrderedDict(bias=n * 1.0)).sum().item())
        del batch
        print(life(reference))
        del owner
        print("end", n)


def program_references_counted():
    class Config(dict):
        pass

    @torch.compile(backend="eager")
    def f(x, config, names):
        for name in names:
            x = x + config[name].scale
        return x

    for n in (2, 3, 4, 5):
        config = Config(a=Named("a", n), b=Named("b", n + 1))
        names = ["a", "b"]
        x = torch.ones(n)
        f(x, config, names)
        print([sys.getrefcount(each) for each in (config, names, x, config["a"], config["b"], f)])
        del config


def program_singledispatch_and_wraps_with_inductor():
    @functools.singledispatch
    def scaled(value, x):
        return x * value

    @scaled.register
    def _(value: list, x):
        return x * sum(value)

    def logged(function):
        owner = Named("of the wrapper")

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) * owner.scale

        return wrapper

    @logged
    def g(value, x, power=1):
        return scaled(value, x) ** power

    f = torch.compile(g)
    for value in (2, [1, 2], 3.0, [4]):
        print(f(value, torch.ones(3), power=2).sum().item())
    del f, g
    print("functions dropped")
    gc.collect()
    print("end")


def program_func_transforms():
    def loss(weights, x, owner):
        return ((weights @ x) * owner.scale).sum()

    f = torch.compile(torch.func.grad(loss), backend="aot_eager")
    for n in (2, 3, 4):
        owner = Named(f"owner {n}", n)
        weights = torch.ones(n, n)
        reference = weakref.ref(weights)
        print(f(weights, torch.arange(float(n)), owner).sum().item())
        del weights, owner
        print(life(reference))


def program_lstm_with_inductor():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(4, 8)
            self.second = torch.nn.Linear(8, 2)
            self.owner = Named("of the model")

        def forward(self, x, state=None, *, scale=1.0):
            hidden = torch.tanh(self.first(x) if state is None else self.first(x) + state)
            return self.second(hidden) * scale, hidden

    torch.manual_seed(1)
    model = torch.compile(Model())
    state = None
    for step in range(4):
        y, state = model(torch.ones(step + 1 if step > 1 else 2, 4), state if step == 1 else None, scale=step * 0.5)
        print(round(y.sum().item(), 3), tuple(state.shape))
    references = [weakref.ref(each) for each in model.parameters()]
    del model, y, state
    print([life(each) for each in references])
    gc.collect()
    print([life(each) for each in references])


def program_deepcopied_modules():
    class Block(torch.nn.Module):
        def __init__(self, name):
            super().__init__()
            self.linear = torch.nn.Linear(3, 3)
            self.name = name

        def __del__(self):
            print("block", self.name, "dropped")

        def forward(self, x):
            return self.linear(x).relu()

    torch.manual_seed(2)
    base = Block("base")
    for n in range(3):
        other = copy.deepcopy(base)
        other.name = f"copy {n}"
        compiled = torch.compile(other, backend="eager")
        print(round(compiled(torch.ones(2, 3)).sum().item(), 3))
        del compiled
        print("compiled dropped")
        del other
        gc.collect()
    print("end")


def program_generators_thrown_into():
    @torch.compile(backend="eager")
    def f(x, owner):
        torch._dynamo.graph_break()
        return x + owner.scale

    def steps():
        owner = Named("of the generator")
        try:
            while True:
                x = yield
                yield f(x, owner).sum().item()
        except ValueError as error:
            print("thrown", error)
            yield None
        finally:
            print("closed")

    generator = steps()
    for n in (2, 3, 4):
        next(generator)
        print(generator.send(torch.ones(n)))
    generator.throw(ValueError("enough"))
    generator.close()
    del generator
    print("end")


def program_gc_callbacks():
    seen = collections.Counter()

    def note(phase, info):
        seen[phase, info["generation"]] += 1

    @torch.compile(backend="eager")
    def f(x, *rest):
        for each in rest:
            x = x + each
        return x

    class Node:
        def __init__(self):
            self.me = self

        def __del__(self):
            print("node dropped")

    gc.callbacks.append(note)
    try:
        for n in range(2, 6):
            Node()
            f(torch.ones(n), *range(n))
            print("called", n)
        gc.collect()
    finally:
        gc.callbacks.remove(note)
    print(seen["start", 2])


def program_types_made_on_the_fly():
    references = []

    def make(n):
        kind = type(f"Kind{n}", (), {"scale": float(n), "apply": lambda self, x: x * self.scale})
        references.append(weakref.ref(kind))
        return kind()

    @torch.compile(backend="eager", dynamic=True)
    def f(x, thing):
        return thing.apply(x) + 1

    for n in range(4):
        thing = make(n)
        print(f(torch.ones(n + 2), thing).sum().item())
        del thing
    gc.collect()
    print([life(each) for each in references])
    torch._dynamo.reset()
    gc.collect()
    print([life(each) for each in references])


def program_modules_of_python_replaced():
    def load(n):
        module = types.ModuleType("plugin")
        module.owner = Named(f"of plugin {n}")
        exec(f"SCALE = {n}\ndef apply(x):\n    return x * SCALE + owner.scale\n", module.__dict__)
        sys.modules["plugin"] = module
        return module

    @torch.compile(backend="eager")
    def f(x):
        import plugin

        return plugin.apply(x)

    for n in (1, 2, 3):
        load(n)
        print(f(torch.ones(3)).sum().item())
    del sys.modules["plugin"]
    gc.collect()
    print("end")


def program_no_grad_and_autocast_with_inductor():
    class Scope:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            print("enter", self.name)
            return self

        def __exit__(self, *exception):
            print("exit", self.name)

        def __del__(self):
            print("scope dropped", self.name)

    @torch.compile
    def f(x, weights, *, flag):
        with torch.no_grad():
            scale = x.mean()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=flag):
            y = x @ weights
        return (y * scale).sum()

    for n, flag in ((2, False), (2, True), (3, True), (5, False)):
        weights = torch.ones(4, 4, requires_grad=True)
        with Scope(n), contextlib.ExitStack() as stack:
            stack.callback(print, "callback", n)
            loss = f(torch.ones(n, 4), weights, flag=flag)
            loss.backward()
            print(round(weights.grad.float().sum().item(), 2))
        reference = weakref.ref(weights)
        del weights, loss
        print(life(reference))


def program_profile_function_of_the_program():
    calls = collections.Counter()

    def profile(frame, event, argument):
        if event == "call" and frame.f_code.co_filename == __file__:
            calls[frame.f_code.co_name] += 1

    def helper(x, owner):
        return x + owner.scale

    @torch.compile(backend="eager")
    def f(x, owner):
        y = helper(x, owner)
        print("between")
        return helper(y, owner)

    owner = Named("profiled")
    sys.setprofile(profile)
    try:
        for n in (2, 3, 4):
            f(torch.ones(n), owner)
    finally:
        sys.setprofile(None)
    print(dict(calls))
    del owner
    print("end")


def program_cached_property_and_slots():
    class Table:
        __slots__ = ("__weakref__", "_rows", "size")

        def __init__(self, size):
            self.size = size

        @property
        def rows(self):
            try:
                return self._rows
            except AttributeError:
                self._rows = torch.arange(float(self.size))
                return self._rows

        def __del__(self):
            print("table", self.size, "dropped")

    class Lazy:
        @functools.cached_property
        def owner(self):
            return Named("lazy")

    @torch.compile(backend="eager")
    def f(x, table, lazy):
        return x + table.rows * lazy.owner.scale

    for n in (2, 3, 4):
        table, lazy = Table(n), Lazy()
        print(f(torch.ones(n), table, lazy).sum().item())
        print(sorted(vars(lazy)))
        del table, lazy
        print("next")


def program_errors_in_the_middle_with_inductor():
    @torch.compile
    def f(x, owner, n):
        y = x * owner.scale
        if n == 3:
            raise ValueError(owner.name)
        return y.sum()

    kept = []
    for n in (2, 3, 4, 3):
        owner = Named(f"owner {n}", n)
        try:
            print(f(torch.ones(n), owner, n).item())
        except ValueError as error:
            kept.append(error)
            print(error, len(error.args))
        del owner
        print("after", n)
    kept.clear()
    gc.collect()
    print("end")


def program_callable_of_a_backend():
    class Compiled:
        def __init__(self, module, name):
            self.module, self.name = module, name

        def __call__(self, *args):
            return self.module(*args)

        def __del__(self):
            print("dropped", self.name)

    def compile(name):
        def backend(module, inputs):
            return Compiled(module.forward, name)

        def f(x):
            return x.sin() + 1

        return torch.compile(f, backend=backend)

    for name in ("first", "second"):
        compiled = compile(name)
        print(round(compiled(torch.ones(2)).sum().item(), 3))
        print(round(compiled(torch.ones(2)).sum().item(), 3))
        del compiled
        print("next")
    compiled = compile("third")
    compiled(torch.ones(3))
    torch._dynamo.reset()
    print("reset")
