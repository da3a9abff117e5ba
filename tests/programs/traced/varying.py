"""Programs in which a guard will fail later, and programs that look like it.

Each `main_` yields once it has called what it compiles for the first time, then runs on.
"""

import torch

X = torch.ones(3)


def compiled(function):
    return torch.compile(function, backend="eager")


def twice(module, *arguments):
    """Call a compiled module, and once more."""
    run = compiled(module)
    run(*arguments)
    yield
    run(*arguments)


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 2

    def forward(self, x):
        self.step += 1  #: counter
        return x * self.step


def main_counter():
    yield from twice(Counter(), X)


CALLS = 2


def counted(x):
    global CALLS
    CALLS += 1  #: global_counter
    return x * CALLS


def main_global_counter():
    yield from twice(counted, X)


class State:
    def __init__(self):
        self.calls = 2


STATE = State()


def stated(x):
    STATE.calls += 1  #: global_object
    return x * STATE.calls


def main_global_object():
    yield from twice(stated, X)


COUNTS = {"calls": 2, "limit": 9}


def counted_in_dict(x):
    COUNTS["calls"] += 1  #: item
    return x * COUNTS["calls"] + COUNTS["limit"]


def main_item():
    yield from twice(counted_in_dict, X)


class Places(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.places = [2, 9]

    def forward(self, x):
        self.places[0] += 1  #: item_of_list
        return x * self.places[0] + self.places[1]


def main_item_of_list():
    yield from twice(Places(), X)


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {"keys": torch.ones(2, 3)}

    def forward(self, x):
        self.kept["keys"] = torch.cat([self.kept["keys"], x[None]])  #: item_resized
        return self.kept["keys"].sum()


def main_item_resized():
    yield from twice(Cache(), X)


def set_back(x):
    COUNTS["limit"] += 1
    y = x * COUNTS["limit"]
    COUNTS["limit"] -= 1
    return y


def main_item_set_back():
    yield from twice(set_back, X)


def in_argument(x, counts):
    counts["calls"] += 1
    return x * counts["calls"]


def main_item_of_argument():
    compiled = torch.compile(in_argument, backend="eager")
    compiled(X, {"calls": 2})
    yield
    compiled(X, {"calls": 2})


class History(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.history = []

    def forward(self, x):
        self.history.append(x)  #: history
        return x * len(self.history)


def main_history():
    yield from twice(History(), X)


class Table(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = {}

    def forward(self, x):
        if "doubled" not in self.table:
            self.table["doubled"] = x * 2  #: table
        return x + self.table["doubled"]


def main_table():
    """On torch 2.11 the second call runs the code of the first one."""
    run = compiled(Table())
    run(X)
    yield
    run(X)
    run(X)


class Lazily(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None:  #: lazily
            self.table = x * 2
        return x + self.table


def main_lazily():
    yield from twice(Lazily(), X)


class Cached(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = torch.ones(2, 3)

    def forward(self, x):
        self.keys = torch.cat([self.keys, x[None]])  #: cached
        return self.keys.sum()


def main_cached():
    yield from twice(Cached(), X)


class Flagged(torch.nn.Module):
    is_first = True

    def forward(self, x):
        if self.is_first:  #: flagged
            self.is_first = False
            return x + 1
        return x + 2


def main_flagged():
    yield from twice(Flagged(), X)


class RestoredOfClass(torch.nn.Module):
    depth = 2

    def forward(self, x):
        self.depth += 1  #: restored_of_class
        y = x * self.depth
        self.depth -= 1
        return y


def main_restored_of_class():
    """It is the object's own from then on."""
    yield from twice(RestoredOfClass(), X)


def with_cell():
    calls = 2

    def counted_in_cell(x):
        nonlocal calls
        calls += 1  #: cell
        return x * calls

    return counted_in_cell


def main_cell():
    yield from twice(with_cell(), X)


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.counter = Counter()

    def forward(self, x):
        return self.counter(x) + 1


def main_inner():
    yield from twice(Inner(), X)


class Layer(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        x = x * self.number  #: layers
        return x + 1  #: after


class Layers(torch.nn.Module):
    def __init__(self, *numbers):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(number) for number in numbers])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def main_layers():
    """Each layer is compiled on its own."""
    model = Layers(2, 3, 4)
    for layer in model.layers:
        layer.compile(backend="eager")
    model.layers[0](X)
    yield
    model(X)


class Decorated(torch.nn.Module):
    def __init__(self, mode):
        super().__init__()
        self.options = {"mode": mode}

    @torch.compile(backend="eager")
    def forward(self, x):
        return x.sin() if self.options["mode"] == "sin" else x.cos()  #: decorated


def main_decorated():
    model = torch.nn.Sequential(Decorated("sin"), Decorated("cos"))
    model[0](X)
    yield
    model(X)


SCALE = 2


def scaled(x):
    return x * SCALE  #: seen


def shifted(x):
    return x + 1


def main_seen():
    global SCALE
    SCALE = 2
    first, second = compiled(scaled), compiled(shifted)
    first(X)
    SCALE = 5
    second(X)
    yield
    first(X)
    SCALE = 2


def resized(x):
    return x * 2  #: view


def main_view():
    run, x = compiled(resized), torch.ones(4, 6)
    torch._dynamo.mark_dynamic(x, 0)
    run(x[:, :3])
    yield
    run(torch.ones(5, 6)[:, :3])


def asking(x):
    return x + 1 if x.shape[0] == 4 else x - 1  #: mark


def main_mark():
    run, x = compiled(asking), torch.ones(4, 6)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    run(x)
    yield
    run(torch.ones(5, 6))


def main_mark_of_one():
    run, x = compiled(resized), torch.ones(1, 6)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    run(x)
    yield
    run(torch.ones(5, 6))


# ---- what looks like it


class Restored(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = 2

    def forward(self, x):
        self.depth += 1
        y = x * self.depth
        self.depth -= 1
        return y


def main_restored():
    yield from twice(Restored(), X)


class Broken(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = 2

    def forward(self, x):
        self.depth += 1
        y = x * self.depth
        torch._dynamo.graph_break()
        self.depth -= 1
        return y


def main_restored_after_a_break():
    yield from twice(Broken(), X)


class InTensor(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("step", torch.zeros(()))

    def forward(self, x):
        self.step += 1
        return x * self.step


def main_in_a_tensor():
    yield from twice(InTensor(), X)


class Written(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.last = 2

    def forward(self, x):
        self.last = 3
        return x * 2


def main_written_only():
    yield from twice(Written(), X)


class Same(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "fast"

    def forward(self, x):
        if self.mode == "fast":
            self.mode = "fa" + "st"
        return x * 2


def main_same_value():
    yield from twice(Same(), X)


def collected(x, found):
    found.append(x)
    return x * len(found)


def main_new_list():
    run = compiled(collected)
    run(X, [])
    yield
    run(X, [])


def on_state(x, state):
    state.calls += 1
    return x * state.calls


def main_new_object():
    run = compiled(on_state)
    run(X, State())
    yield
    run(X, State())


def main_equal_layers():
    model = Layers(2, 2, 2)
    for layer in model.layers:
        layer.compile(backend="eager")
    model.layers[0](X)
    yield
    model(X)


def main_compiled_as_a_whole():
    yield from twice(Layers(2, 3, 4), X)


def main_one_layer_compiled():
    model = Layers(2, 3, 4)
    model.layers[0].compile(backend="eager")
    model.layers[0](X)
    yield
    model(X)


def main_mark_that_arrives():
    run, x = compiled(resized), torch.ones(4, 6)
    torch._dynamo.mark_dynamic(x, 0)
    run(x)
    yield
    run(torch.ones(5, 6))


def main_view_of_another_size():
    """The marked size is not in the view."""
    run, x = compiled(resized), torch.ones(4, 6)
    torch._dynamo.mark_dynamic(x, 0)
    run(x[0])
    yield
    run(torch.ones(5, 6)[0])


def main_seen_alike():
    first, second = compiled(scaled), compiled(shifted)
    first(X)
    second(X)
    yield
    first(X)


def main_new_tensor_of_one_size():
    module = Lazily()
    module.table = X
    yield from twice(module, X)
