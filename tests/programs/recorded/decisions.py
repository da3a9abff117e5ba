"""Shapes, recompiles, a specialisation, a skipped frame, a limit and a failing backend."""

import torch


def scaled(x, n):
    y = x * n
    rows = y.shape[0]
    return y.reshape(rows, -1)


def specialized(x):
    if x.shape[0] == 6:
        return x + 1
    return x


def limited(x, n):
    return x + n


def no_backend(graph, inputs):
    raise RuntimeError("no kernel")


def failing(x):
    return x + 1


@torch.library.custom_op("recorded::without_fake", mutates_args=())
def without_fake(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def uses_without_fake(x):
    return without_fake(x * 2)  #: fails


def failing_in_a_call(x):
    return uses_without_fake(x + 1)


@torch.compiler.disable
def never_traced(x):
    return x


if __name__ == "__main__":
    compiled = torch.compile(scaled, backend="eager")
    compiled(torch.ones(4, 2), 2)
    compiled(torch.ones(5, 2), 2)
    compiled(torch.ones(6, 2), 3)
    torch.compile(specialized, backend="eager", dynamic=True)(torch.ones(6, 2))
    torch._dynamo.config.recompile_limit = 2
    again = torch.compile(limited, backend="eager", dynamic=False)
    for n in range(3, 7):
        again(torch.ones(n), 2)
    try:
        torch.compile(failing, backend=no_backend)(torch.ones(3))
    except torch._dynamo.exc.BackendCompilerFailed:
        pass
    try:
        torch.compile(failing_in_a_call, backend="eager")(torch.ones(3))
    except torch._dynamo.exc.TorchRuntimeError:
        pass

    weight = torch.ones(3, requires_grad=True)
    loss = torch.compile(lambda w: (w * 2).sum(), backend="aot_eager")(weight)
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
        loss.backward()
