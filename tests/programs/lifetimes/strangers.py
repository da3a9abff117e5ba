"""Programs of many other kinds, written before they were run: what ordinary code keeps, drops, finalizes."""

import asyncio
import contextlib
import contextvars
import copy
import dataclasses
import functools
import gc
import threading
import traceback
import tracemalloc
import weakref
from typing import ClassVar

import torch


class Owner:
    def __init__(self, name: str, scale: float = 2.0) -> None:
        self.name = name
        self.scale = scale

    def __del__(self) -> None:
        print("finalized", self.name)


def life(reference: weakref.ref) -> str:
    return "dead" if reference() is None else "alive"


def program_generator_half_consumed() -> None:
    def scales(owner):
        try:
            for n in range(5):
                yield owner.scale + n
        finally:
            print("closed")

    @torch.compile(backend="eager")
    def f(x, scale):
        return x * scale

    for n in range(2):
        steps = scales(Owner(f"generator {n}"))
        print(f(torch.ones(2), next(steps)).sum().item(), f(torch.ones(3), next(steps)).sum().item())
        del steps
        print("dropped", n)


def program_context_variable() -> None:
    current = contextvars.ContextVar("current")

    @torch.compile(backend="eager")
    def f(x):
        owner = current.get()
        torch._dynamo.graph_break()
        return x * owner.scale

    def inside(n):
        current.set(Owner(f"context {n}", float(n)))
        return f(torch.ones(2)).sum().item()

    for n in (1, 2, 3):
        context = contextvars.copy_context()
        print(context.run(inside, n))
        del context
        print("after", n)


def program_thread_local() -> None:
    local = threading.local()

    @torch.compile(backend="eager")
    def f(x, scale):
        return x * scale + 1

    def work(n):
        local.owner = Owner(f"thread {n}", float(n))
        print(f(torch.ones(2), local.owner.scale).sum().item())

    for n in (1, 2, 3):
        thread = threading.Thread(target=work, args=(n,))
        thread.start()
        thread.join()
        del thread
        print("joined", n)


def program_cached_tensors_of_owners() -> None:
    @functools.lru_cache(maxsize=2)
    def table(owner):
        return torch.full((4,), owner.scale)

    @torch.compile(backend="eager")
    def f(x, owner):
        return x + table(owner)

    for n in range(4):
        print(f(torch.ones(4), Owner(f"key {n}", float(n))).sum().item(), table.cache_info().currsize)
    table.cache_clear()
    print("cleared")


def program_weak_key_cache_in_a_module() -> None:
    class Layer(torch.nn.Module):
        seen: ClassVar[weakref.WeakKeyDictionary] = weakref.WeakKeyDictionary()

        def forward(self, x):
            torch._dynamo.graph_break()
            return x.relu() + 1

    for n in range(3):
        layer = Layer()
        Layer.seen[layer] = n
        print(torch.compile(layer, backend="eager")(torch.ones(2)).sum().item(), len(Layer.seen))
        del layer
        gc.collect()
        print(sorted(Layer.seen.values()))


def program_finalizer_that_compiles() -> None:
    @torch.compile(backend="eager")
    def g(x, n):
        return x + n

    class Last:
        def __init__(self, n):
            self.n = n

        def __del__(self):
            print("last", g(torch.ones(2), self.n).sum().item())

    @torch.compile(backend="eager")
    def f(x, last):
        return x * last.n

    for n in (2, 3):
        last = Last(n)
        print(f(torch.ones(2), last).sum().item())
        del last
        print("after", n)


def program_tensor_hooks_with_owners() -> None:
    @torch.compile(backend="aot_eager")
    def f(x):
        return (x.sin() * 2).sum()

    for n in range(3):
        owner = Owner(f"hook {n}", float(n))
        x = torch.ones(3 + n, requires_grad=True)
        x.register_hook(lambda grad, owner=owner: grad * owner.scale)
        del owner
        f(x).backward()
        print(round(x.grad.sum().item(), 3))
        del x
        print("dropped", n)


def program_function_with_attributes_on_its_context() -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            ctx.save_for_backward(x)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * ctx.factor + x * 0, None

    @torch.compile(backend="aot_eager")
    def f(x, factor):
        return Scaled.apply(x.cos(), factor).sum()

    for n in (2, 3, 4):
        x = torch.zeros(n, requires_grad=True)
        reference = weakref.ref(x)
        loss = f(x, float(n))
        loss.backward()
        print(loss.item(), x.grad.sum().item())
        del x
        print(life(reference))
        del loss
        print(life(reference))


def program_chained_exceptions() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        if owner.scale > 2:
            raise ValueError(owner.name)
        return x * owner.scale

    kept = []
    for n in (1, 3, 4):
        try:
            try:
                print(f(torch.ones(2), Owner(f"raised {n}", float(n))).sum().item())
            except ValueError as error:
                raise RuntimeError("again") from error
        except RuntimeError as error:
            kept.append(error)
            print(type(error.__cause__).__name__, len(traceback.extract_tb(error.__traceback__)))
        print("after", n)
    kept.clear()
    gc.collect()
    print("cleared")


def program_closure_in_a_partial() -> None:
    def make(owner):
        def scaled(x, more):
            return x * owner.scale + more

        return functools.partial(scaled, more=1)

    @torch.compile(backend="eager")
    def f(x, calls):
        for call in calls:
            x = call(x)
        return x

    calls = [make(Owner("a", 2.0)), make(Owner("b", 3.0))]
    print(f(torch.ones(2), calls).sum().item())
    calls.pop(0)
    print("popped", f(torch.ones(2), calls).sum().item())
    calls.clear()
    print("cleared")


@dataclasses.dataclass
class Config:
    owner: Owner
    sizes: list = dataclasses.field(default_factory=lambda: [2, 3])

    def __post_init__(self) -> None:
        self.total = sum(self.sizes)


def program_dataclass_replaced_and_copied() -> None:
    @torch.compile(backend="eager")
    def f(x, config):
        return x * config.owner.scale + config.total

    config = Config(Owner("first"))
    print(f(torch.ones(2), config).sum().item())
    other = dataclasses.replace(config, owner=Owner("second", 3.0))
    print(f(torch.ones(2), other).sum().item())
    shallow = copy.copy(config)
    del config
    print("one left", f(torch.ones(2), shallow).sum().item())
    del shallow
    print("none left")
    del other
    print("end")


def program_parametrization_removed() -> None:
    class Doubled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.owner = Owner("parametrization")

        def forward(self, weight):
            return weight * self.owner.scale

    layer = torch.nn.Linear(2, 2, bias=False)
    torch.nn.init.ones_(layer.weight)
    torch.nn.utils.parametrize.register_parametrization(layer, "weight", Doubled())
    print(torch.compile(layer, backend="eager")(torch.ones(1, 2)).sum().item())
    torch.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    gc.collect()
    print("removed")
    print(torch.compile(layer, backend="eager")(torch.ones(1, 2)).sum().item())


def program_bound_method_of_a_temporary() -> None:
    class Model:
        def __init__(self, n):
            self.owner = Owner(f"model {n}", float(n))

        def scaled(self, x):
            return x * self.owner.scale

    for n in (1, 2, 3):
        compiled = torch.compile(Model(n).scaled, backend="eager")
        print(compiled(torch.ones(2)).sum().item())
        del compiled
        gc.collect()
        print("dropped", n)


def program_subclass_of_dict() -> None:
    class Registry(dict):
        def __init__(self, *args):
            super().__init__(*args)
            self.owner = Owner("registry")

        def __missing__(self, key):
            return 1.0

    @torch.compile(backend="eager")
    def f(x, registry):
        return x * registry["a"] + registry["b"]

    registry = Registry({"a": 2.0, "b": 3.0})
    reference = weakref.ref(registry)
    print(f(torch.ones(2), registry).sum().item())
    registry["a"] = 5.0
    print(f(torch.ones(2), registry).sum().item())
    del registry
    print(life(reference))


def program_async_functions() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        return x * owner.scale

    async def one(n):
        owner = Owner(f"task {n}", float(n))
        await asyncio.sleep(0)
        result = f(torch.ones(n + 1), owner).sum().item()
        await asyncio.sleep(0)
        return result

    async def main():
        print(*await asyncio.gather(*(one(n) for n in (1, 2, 3))))

    asyncio.run(main())
    print("end")


def program_exit_stack() -> None:
    @contextlib.contextmanager
    def entered(owner):
        print("enter", owner.name)
        yield owner.scale
        print("exit", owner.name)

    @torch.compile(backend="eager")
    def f(x, scales):
        with torch.no_grad():
            for scale in scales:
                x = x * scale
        return x

    with contextlib.ExitStack() as stack:
        scales = [stack.enter_context(entered(Owner(name))) for name in "ab"]
        stack.callback(print, "callback")
        print(f(torch.ones(2), scales).sum().item())
    print("left")


def program_compiled_in_compiled_closures() -> None:
    def make(owner):
        @torch.compile(backend="eager")
        def inner(x):
            torch._dynamo.graph_break()
            return x * owner.scale

        @torch.compile(backend="eager")
        def outer(x):
            y = inner(x) + 1
            print("between")
            return inner(y)

        return outer

    for n in (2, 3):
        outer = make(Owner(f"closure {n}", float(n)))
        print(outer(torch.ones(2)).sum().item())
        del outer
        gc.collect()
        print("dropped", n)


def program_exported_module_dropped() -> None:
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(3, 3)
            self.owner = Owner("exported")

        def forward(self, x):
            return self.inner(x) * self.owner.scale

    net = Net()
    references = weakref.ref(net), weakref.ref(net.inner)
    exported = torch.export.export(net, (torch.ones(2, 3),), strict=True)
    print(len(list(exported.graph.nodes)))
    del net
    gc.collect()
    print(*map(life, references))
    del exported
    gc.collect()
    print(*map(life, references))


def program_dynamic_shapes_of_owned_tensors() -> None:
    @torch.compile(backend="eager", dynamic=True)
    def f(batch):
        return {name: x[: x.shape[0] // 2] * 2 for name, x in batch.items()}

    for n in (4, 6, 9, 16):
        batch = {"a": torch.ones(n), "b": torch.ones(n + 1)}
        references = [weakref.ref(x) for x in batch.values()]
        out = f(batch)
        print({name: x.sum().item() for name, x in out.items()})
        del batch
        print(*map(life, references))
        results = [weakref.ref(x) for x in out.values()]
        del out
        print(*map(life, results))


def program_garbage_in_cycles_without_a_collection() -> None:
    class Node:
        def __init__(self, owner):
            self.owner, self.itself = owner, self

    @torch.compile(backend="eager")
    def f(x, node):
        return x * node.owner.scale

    for n in range(6):
        print(f(torch.ones(2), Node(Owner(f"node {n}", float(n)))).sum().item())


def program_traced_memory() -> None:
    @torch.compile(backend="eager")
    def f(x, blob):
        return x * len(blob)

    tracemalloc.start()
    for n in (1, 2, 3):
        blob = [b"x" * (8 << 20) for _ in range(n)]
        before = tracemalloc.get_traced_memory()[0] >> 23
        print(f(torch.ones(2), blob).sum().item(), before)
        del blob
        print(tracemalloc.get_traced_memory()[0] >> 23)
    tracemalloc.stop()


def program_allocations_counted_with_inductor() -> None:
    @torch.compile
    def f(x):
        y = x.sin()
        return (y * y).sum(), y[:4] + 1

    for n in (256, 512, 1024):
        with torch.profiler.profile(profile_memory=True) as profile:
            total, part = f(torch.ones(n, 64))
        kept = sum(event.self_cpu_memory_usage for event in profile.key_averages())
        print(round(total.item(), 2), tuple(part.shape), kept > 0)
        reference = weakref.ref(part)
        del total, part
        print(life(reference))
