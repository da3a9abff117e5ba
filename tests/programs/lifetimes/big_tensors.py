"""Programs with tensors so big that one more that is kept shows in the peak of memory."""

import functools
import weakref

import torch

MIB = 1 << 20


def big(mib: int = 768, value: float = 1.0) -> torch.Tensor:
    return torch.full((mib * MIB // 4,), value)


def life(reference: weakref.ref) -> str:
    return "dead" if reference() is None else "alive"


def program_big_argument_dropped() -> None:
    @torch.compile(backend="eager")
    def f(x, factor):
        return x[:4] * factor

    for factor in (2, 3, 4):
        x = big()
        reference = weakref.ref(x)
        print(f(x, factor).sum().item())
        del x
        print(life(reference))


def program_big_temporary_between_graph_breaks() -> None:
    @torch.compile(backend="eager")
    def f(x):
        y = x + 1
        torch._dynamo.graph_break()
        z = y[:4] * 2
        del y
        torch._dynamo.graph_break()
        return z + 1

    for _ in range(3):
        print(f(big()).sum().item())


def program_big_global_rebound() -> None:
    global TABLE
    TABLE = big()

    @torch.compile(backend="eager")
    def f(x):
        return x + TABLE[:4]

    for value in (1.0, 2.0, 3.0):
        reference = weakref.ref(TABLE)
        print(f(torch.ones(4)).sum().item())
        del TABLE
        print(life(reference))
        TABLE = big(value=value)


def program_big_tensor_in_a_closure() -> None:
    def make(value):
        table = big(value=value)

        @torch.compile(backend="eager")
        def f(x):
            return x + table[:4]

        return f, weakref.ref(table)

    for value in (1.0, 2.0, 3.0):
        f, reference = make(value)
        print(f(torch.ones(4)).sum().item())
        del f
        print(life(reference))


def program_cache_of_tensors() -> None:
    @functools.lru_cache(maxsize=1)
    def table(n):
        return big(value=float(n))

    @torch.compile(backend="eager")
    def f(x, rows):
        return x + rows[:4]

    references = []
    for n in (1, 2, 3):
        rows = table(n)
        references.append(weakref.ref(rows))
        print(f(torch.ones(4), rows).sum().item())
        del rows
        print(*map(life, references))
    table.cache_clear()
    print(*map(life, references))


def program_big_argument_with_inductor() -> None:
    @torch.compile
    def f(x, factor):
        return (x[:8] * factor).sin()

    for factor in (2.0, 3.0, 4.0):
        x = big()
        reference = weakref.ref(x)
        print(round(f(x, factor).sum().item(), 3))
        del x
        print(life(reference))


def program_big_tensor_saved_for_backward() -> None:
    @torch.compile(backend="aot_eager")
    def f(x, weight):
        return (x * weight).sum()

    for _ in range(3):
        x, weight = big(512), torch.ones(1, requires_grad=True)
        reference = weakref.ref(x)
        loss = f(x, weight)
        del x
        loss.backward()
        del loss
        print(weight.grad.item(), life(reference))


def program_big_parameters_freed() -> None:
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(big())

        def forward(self, x):
            return x * self.weight[:4]

    for _ in range(3):
        module = Scale()
        reference = weakref.ref(module.weight)
        with torch.no_grad():
            print(torch.compile(module, backend="eager")(torch.ones(4)).sum().item())
        del module
        print(life(reference))


def program_big_argument_of_a_failing_compile() -> None:
    def refuse(graph, inputs):
        raise RuntimeError("no")

    @torch.compile(backend=refuse)
    def f(x, factor):
        return x[:4] * factor

    for factor in (2, 3, 4):
        x = big()
        reference = weakref.ref(x)
        try:
            f(x, factor)
        except Exception as error:
            print(type(error).__name__)
        del x
        print(life(reference))


def program_big_results_between_calls() -> None:
    @torch.compile(backend="eager")
    def grow(x):
        return x + 1

    x = big(512)
    for _ in range(4):
        before = weakref.ref(x)
        x = grow(x)
        print(x[0].item(), life(before))
