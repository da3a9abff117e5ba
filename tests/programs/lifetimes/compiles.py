"""Programs that compile again, fail to compile, break graphs and nest compiled functions."""

import gc
import weakref

import torch


class Owner:
    def __init__(self, scale=2.0) -> None:
        self.scale = scale

    def __del__(self) -> None:
        print("finalized", self.scale)


def life(reference: weakref.ref) -> str:
    return "dead" if reference() is None else "alive"


def program_many_recompiles() -> None:
    @torch.compile(backend="eager", dynamic=False)
    def f(x, owner):
        return x * owner.scale

    for n in range(5):
        owner = Owner(float(n))
        print(f(torch.ones(n + 2), owner).sum().item())
        del owner


def program_beyond_the_limit() -> None:
    torch._dynamo.config.recompile_limit = 2

    @torch.compile(backend="eager", dynamic=False)
    def f(x, owner):
        return x * owner.scale

    for n in range(5):
        print(f(torch.ones(n + 2), Owner(n)).sum().item())


def program_resume_functions() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        y = x * owner.scale
        print("one")
        scale = owner.scale
        del owner
        print("two")
        z = y + scale
        print("three")
        return z

    for n in range(3):
        owner = Owner(float(n))
        print(f(torch.ones(2), owner).sum().item())
        del owner


def program_breaks_in_callees() -> None:
    def callee(x, owner):
        print("callee")
        return x * owner.scale

    @torch.compile(backend="eager")
    def f(x, owner):
        y = callee(x + 1, owner)
        return callee(y, owner)

    owner = Owner(3.0)
    print(f(torch.ones(2), owner).sum().item())
    del owner
    print("end")


def program_backend_that_fails() -> None:
    def refuse(graph, inputs):
        raise RuntimeError("refused")

    @torch.compile(backend=refuse)
    def f(x, owner):
        return x * owner.scale

    owner = Owner(1.0)
    for _ in range(2):
        try:
            f(torch.ones(2), owner)
        except Exception as error:
            print(type(error).__name__)
    del owner
    gc.collect()
    print("end")


def program_full_graph_that_breaks() -> None:
    @torch.compile(backend="eager", fullgraph=True)
    def f(x, owner):
        torch._dynamo.graph_break()
        return x * owner.scale

    owner = Owner(1.0)
    reference = weakref.ref(owner)
    try:
        f(torch.ones(2), owner)
    except Exception as error:
        print(type(error).__name__)
    del owner
    gc.collect()
    print(life(reference))


def program_suppressed_failure() -> None:
    torch._dynamo.config.suppress_errors = True

    def refuse(graph, inputs):
        raise RuntimeError("refused")

    @torch.compile(backend=refuse)
    def f(x, owner):
        return x * owner.scale

    import logging

    logging.disable(logging.CRITICAL)
    for n in range(3):
        print(f(torch.ones(2), Owner(n)).sum().item())
    gc.collect()
    print("end")


def program_nested_compiled_functions() -> None:
    @torch.compile(backend="eager")
    def inner(x, owner):
        return x * owner.scale

    @torch.compile(backend="eager")
    def outer(x, owner):
        return inner(x, owner) + 1

    for n in (2, 3, 4):
        print(outer(torch.ones(n), Owner(n)).sum().item())


def program_compile_in_a_compile() -> None:
    @torch.compile(backend="eager")
    def inner(x, owner):
        return x * owner.scale

    @torch.compile(backend="eager")
    def outer(x, owner):
        y = x + 1
        torch._dynamo.graph_break()
        return inner(y, owner)

    owner = Owner(2.0)
    print(outer(torch.ones(2), owner).sum().item())
    del owner
    print("end")


def program_reset_between_calls() -> None:
    @torch.compile(backend="eager")
    def f(x, owner):
        return x * owner.scale

    for n in range(3):
        print(f(torch.ones(2), Owner(n)).sum().item())
        torch._dynamo.reset()


def program_function_dropped() -> None:
    for n in range(3):

        def f(x, owner):
            return x * owner.scale

        reference = weakref.ref(f)
        code = weakref.ref(f.__code__)
        print(torch.compile(f, backend="eager")(torch.ones(2), Owner(n)).sum().item())
        del f
        gc.collect()
        print(life(reference), life(code))


def program_skipped_function() -> None:
    @torch._dynamo.disable
    def outside(x, owner):
        return x * owner.scale

    @torch.compile(backend="eager")
    def f(x, owner):
        return outside(x + 1, owner) - 1

    for n in range(3):
        print(f(torch.ones(2), Owner(n)).sum().item())


def program_speculation_that_restarts() -> None:
    @torch.compile(backend="eager")
    def f(x, owners):
        scale = owners[0].scale
        if x.sum() > 1:
            print("more")
            return x * scale
        return x - scale

    for n in range(3):
        print(f(torch.ones(2) * n, [Owner(n)]).sum().item())


def program_graph_break_with_inductor() -> None:
    @torch.compile
    def f(x, owner):
        y = (x * owner.scale).relu()
        print("break")
        return y.exp() + owner.scale

    for n in (1, 2, 3):
        print(round(f(torch.ones(4), Owner(n)).sum().item(), 3))


def program_recompiles_with_inductor() -> None:
    @torch.compile
    def f(x, owner, n):
        return (x * owner.scale + n).relu()

    for n in (2, 3, 4, 5):
        print(f(torch.ones(n * 2), Owner(2), n).sum().item())


def program_nested_with_inductor() -> None:
    @torch.compile
    def inner(x, owner):
        return x * owner.scale

    @torch.compile
    def outer(x, owner):
        return inner(x, owner).sin() + 1

    for n in (4, 8, 16):
        print(round(outer(torch.ones(n), Owner(2)).sum().item(), 3))
