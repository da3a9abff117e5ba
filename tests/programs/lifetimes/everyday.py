"""Programs such as people write: caches, training steps, hooks, threads, contexts; half of them with Inductor."""

import contextlib
import dataclasses
import functools
import gc
import threading
import traceback
import weakref

import torch


class Named:
    """Prints when it is finalized."""

    def __init__(self, name: str, scale: float = 2.0) -> None:
        self.name, self.scale = name, scale

    def __del__(self) -> None:
        print("finalized", self.name)


def life(reference: weakref.ref) -> str:
    return "dead" if reference() is None else "alive"


def program_registry_of_weak_values() -> None:
    registry: weakref.WeakValueDictionary = weakref.WeakValueDictionary()

    @torch.compile(backend="eager")
    def f(x, first, second, *rest, bias=0.0):
        y = x * first.scale - second.scale
        for each in rest:
            y = y + each.scale
        return y + bias

    for size in (2, 3, 4, 5):
        owners = [Named(f"{size}.{n}", float(n)) for n in range(4)]
        registry.update({each.name: each for each in owners})
        print(f(torch.ones(size), *owners, bias=float(size)).sum().item(), sorted(registry))
        del owners[1:3]
        print(sorted(registry))
        del owners
        print(sorted(registry))


def program_lru_cache_of_tensors() -> None:
    made: list = []

    @functools.lru_cache(maxsize=2)
    def table(size: int) -> torch.Tensor:
        result = torch.arange(float(size))
        made.append(weakref.ref(result))
        return result

    @torch.compile(backend="eager")
    def f(x, positions, owner):
        return (x + positions) * owner.scale

    for size in (4, 5, 6, 4):
        owner = Named(f"for {size}")
        print(f(torch.ones(size), table(size), owner).sum().item())
        print(*map(life, made), table.cache_info())
        del owner
    table.cache_clear()
    gc.collect()
    print(*map(life, made))


def program_errors_kept_with_tracebacks() -> None:
    errors: list = []

    @torch.compile(backend="eager")
    def f(x, owner, limit):
        y = x * owner.scale
        if limit < 0:
            raise ValueError(f"limit {limit} of {len(x)}")
        return y.clamp(max=limit)

    for limit in (3, -1, 4, -2):
        owner = Named(f"limit {limit}")
        reference = weakref.ref(owner)
        try:
            print(f(torch.ones(3), owner, limit).sum().item())
        except ValueError as error:
            errors.append(error)
            print([frame.name for frame in traceback.extract_tb(error.__traceback__) if "lifetimes" in frame.filename])
        del owner
        print(life(reference))
    for error in errors:
        print(error, error.__context__)
    errors.clear()
    del error
    print("cleared")


def program_half_consumed_batches() -> None:
    def batches(count):
        holder = Named("loader")
        try:
            for n in range(count):
                yield torch.full((n + 2,), float(n)) * holder.scale, Named(f"label {n}", float(n))
        finally:
            print("closed after", n)

    @torch.compile(backend="eager")
    def step(x, label, state):
        state["seen"] = state["seen"] + 1
        return (x - label.scale).abs().sum()

    state = {"seen": 0}
    loader = batches(6)
    for x, label in loader:
        print(step(x, label, state).item(), state)
        if state["seen"] == 4:
            break
    reference = weakref.ref(x)
    del x, label
    print(life(reference))
    del loader
    print("dropped")


def program_contexts_around_and_within() -> None:
    @contextlib.contextmanager
    def scaled(owner):
        print("enter", owner.name)
        try:
            yield owner.scale
        finally:
            print("exit", owner.name)

    @torch.compile(backend="eager")
    def f(x, owner):
        with torch.no_grad():
            y = x * owner.scale
        with torch.autocast("cpu", enabled=False):
            return y.sum() + len(owner.name)

    for n in range(3):
        with contextlib.ExitStack() as stack:
            factor = stack.enter_context(scaled(Named(f"outer {n}", n + 1.0)))
            stack.callback(print, "callback", n)
            owner = Named(f"inner {n}", factor)
            print(f(torch.ones(n + 2), owner).item())
            del owner
        print("left", n)
    del stack
    print("done")


def program_threads_that_compile() -> None:
    results: dict = {}

    @torch.compile(backend="eager", dynamic=True)
    def f(x, owner):
        return (x * owner.scale).cumsum(0)

    def work(name, size):
        owner = Named(name)
        results[name] = f(torch.ones(size), owner).sum().item()

    for name, size in (("first", 3), ("second", 4), ("third", 5)):
        thread = threading.Thread(target=work, args=(name, size))
        reference = weakref.ref(thread)
        thread.start()
        thread.join()
        del thread
        print(name, results[name], life(reference))


def program_recursion_with_inductor() -> None:
    @dataclasses.dataclass
    class Tree:
        value: torch.Tensor
        owner: Named
        left: "Tree | None" = None
        right: "Tree | None" = None

    def total(tree, depth):
        if tree is None:
            return 0.0
        return tree.value * tree.owner.scale + total(tree.left, depth + 1) - total(tree.right, depth + 1)

    @torch.compile
    def f(tree):
        return total(tree, 0)

    def grown(depth, path=""):
        if depth == 0:
            return None
        owner = Named(f"node {path or 'root'}", float(depth))
        return Tree(torch.ones(3), owner, grown(depth - 1, path + "l"), grown(depth - 1, path + "r"))

    for depth in (1, 3, 2):
        tree = grown(depth)
        print(f(tree).sum().item())
        del tree
        print("dropped", depth)


def program_hooked_module_with_inductor() -> None:
    class Block(torch.nn.Module):
        def __init__(self, size, name):
            super().__init__()
            self.linear = torch.nn.Linear(size, size)
            self.norm = torch.nn.LayerNorm(size)
            self.owner = Named(name)

        def forward(self, x, mask=None):
            y = self.norm(self.linear(x))
            return y if mask is None else y.masked_fill(mask, 0.0) * self.owner.scale

    seen: list = []

    def note(module, arguments, result):
        seen.append(tuple(result.shape))

    net = torch.nn.Sequential(Block(8, "one"), Block(8, "two"))
    handle = net[1].register_forward_hook(note)
    compiled = torch.compile(net)
    with torch.no_grad():
        for rows in (2, 3, 4):
            print(tuple(compiled(torch.ones(rows, 8)).shape))
    handle.remove()
    print(len(seen) > 0, seen[-1])
    reference = weakref.ref(net[1].linear.weight)
    del net, compiled, handle
    torch._dynamo.reset()
    gc.collect()
    print(life(reference))


def program_training_loop_with_inductor() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)

    @torch.compile
    def loss_of(x, y, weight):
        return ((model(x) - y) ** 2).mean() * weight.scale

    for n in range(3):
        weight = Named(f"weight {n}")
        loss = loss_of(torch.ones(4 + n, 4), torch.zeros(4 + n, 1), weight)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        schedule.step()
        reference = weakref.ref(loss)
        del weight, loss
        print(n, life(reference), model[0].weight.grad is None)


def program_saved_tensors_with_inductor() -> None:
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight):
            ctx.save_for_backward(x, weight)
            return x * weight.exp()

        @staticmethod
        def backward(ctx, gradient):
            x, weight = ctx.saved_tensors
            return gradient * weight.exp(), (gradient * x * weight.exp()).sum(0)

    @torch.compile
    def f(x, weight, owner):
        return Scaled.apply(x, weight).sum() * owner.scale

    weight = torch.zeros(4, requires_grad=True)
    for rows in (2, 3, 5):
        x, owner = torch.ones(rows, 4), Named(f"rows {rows}")
        reference = weakref.ref(x)
        out = f(x, weight, owner)
        del x, owner
        print(round(out.item(), 3), life(reference))
        out.backward()
        del out
        print(life(reference), weight.grad.sum().item())


def program_big_tensor_at_a_break_with_inductor() -> None:
    @torch.compile
    def f(x, owner):
        big = torch.ones(1 << 20) * x.sum()
        part = big[:4] + 1
        reference = weakref.ref(big)
        print("break", owner.name)
        del big
        print(life(reference))
        return part * owner.scale

    for n in range(3):
        owner = Named(f"at {n}")
        print(f(torch.ones(2) * n, owner).sum().item())
        del owner


def program_order_of_finalizers_with_inductor() -> None:
    class Bag:
        def __init__(self, *names):
            self.items = [Named(name) for name in names]
            self.first = self.items[0]
            weakref.finalize(self, print, "bag of", *names)

    @torch.compile
    def f(x, bag, extra):
        y = x
        for item in bag.items:
            y = y.cos() * item.scale
        return y + extra["owner"].scale, [y * 2]

    for names in (("a", "b"), ("c", "d", "e"), ("g",)):
        extra = {"owner": Named(f"extra {names[0]}")}
        result, (second,) = f(torch.ones(3), Bag(*names), extra)
        print(round(result.sum().item(), 3), tuple(second.shape))
        extra.clear()
        print("next")
    del result, second
