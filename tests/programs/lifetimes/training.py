"""Programs that train: backward, optimizers, hooks of gradients and functions of autograd."""

import gc
import weakref

import torch


def life(reference: weakref.ref) -> str:
    return "dead" if reference() is None else "alive"


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        torch.nn.init.ones_(self.inner.weight)
        torch.nn.init.zeros_(self.inner.bias)

    def forward(self, x):
        return self.inner(x).relu()


def program_graph_of_autograd_freed() -> None:
    net = Net()
    step = torch.compile(net, backend="aot_eager")
    for batch in (2, 3, 4):
        x = torch.ones(batch, 3)
        reference = weakref.ref(x)
        loss = step(x).sum()
        loss.backward()
        del x
        print(round(loss.item(), 3), life(reference))
        del loss
        print(life(reference))


def program_optimizer_dropped() -> None:
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    reference = weakref.ref(optimizer)

    @torch.compile(backend="eager")
    def step():
        optimizer.step()

    for _ in range(3):
        net(torch.ones(2, 3)).sum().backward()
        step()
        optimizer.zero_grad()
    print(round(net.inner.weight.sum().item(), 3))
    optimizer = step = None
    torch._dynamo.reset()
    gc.collect()
    print(life(reference))


def program_optimizer_with_state() -> None:
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    compiled = torch.compile(optimizer.step, backend="eager")
    for _ in range(3):
        net(torch.ones(2, 3)).sum().backward()
        compiled()
    references = [weakref.ref(each["exp_avg"]) for each in optimizer.state.values()]
    print(round(net.inner.weight.sum().item(), 3), *map(life, references))
    del optimizer, compiled, net
    torch._dynamo.reset()
    gc.collect()
    print(*map(life, references))


def program_hook_of_a_gradient() -> None:
    class Hook:
        def __call__(self, grad):
            return grad * 2

    @torch.compile(backend="aot_eager")
    def f(x):
        return (x * x).sum()

    hook = Hook()
    reference = weakref.ref(hook)
    x = torch.ones(3, requires_grad=True)
    handle = x.register_hook(hook)
    del hook
    f(x).backward()
    print(x.grad.sum().item(), life(reference))
    handle.remove()
    print(life(reference))


def program_function_of_autograd() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 2 * x

    @torch.compile(backend="aot_eager")
    def f(x):
        return Double.apply(x).sum()

    for size in (2, 3, 4):
        x = torch.ones(size, requires_grad=True)
        reference = weakref.ref(x)
        f(x).backward()
        print(x.grad.sum().item())
        del x
        print(life(reference))


def program_hooks_of_saved_tensors() -> None:
    packed: list = []

    def pack(x):
        packed.append(weakref.ref(x))
        return x.clone()

    def unpack(x):
        return x

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        x = torch.ones(3, requires_grad=True)
        y = torch.compile(lambda x: (x.sin() * x).sum(), backend="eager")(x)
    y.backward()
    del y, x
    print(len(packed), *map(life, packed))


def program_gradients_dropped() -> None:
    net = Net()
    compiled = torch.compile(net, backend="eager")
    for _ in range(3):
        compiled(torch.ones(2, 3)).sum().backward()
        reference = weakref.ref(net.inner.weight.grad)
        net.zero_grad()
        print(life(reference))


def program_checkpoint() -> None:
    from torch.utils.checkpoint import checkpoint

    net = Net()

    @torch.compile(backend="aot_eager")
    def f(x):
        return checkpoint(net, x, use_reentrant=False).sum()

    x = torch.ones(2, 3, requires_grad=True)
    reference = weakref.ref(x)
    f(x).backward()
    print(x.grad.sum().item())
    del x
    print(life(reference))


def program_training_with_inductor() -> None:
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    compiled = torch.compile(net)
    for batch in (2, 3, 4):
        x = torch.ones(batch, 3)
        reference = weakref.ref(x)
        loss = compiled(x).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(round(loss.item(), 3))
        del x, loss
        print(life(reference))


def program_step_with_inductor() -> None:
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    @torch.compile
    def step():
        optimizer.step()

    for _ in range(3):
        net(torch.ones(2, 3)).sum().backward()
        step()
        reference = weakref.ref(net.inner.weight.grad)
        optimizer.zero_grad()
        print(life(reference))
    print(round(net.inner.weight.sum().item(), 3))


def program_function_of_autograd_with_inductor() -> None:
    @torch.compile
    def f(x, weight):
        return ((x * weight).sin() * weight).sum()

    for size in (4, 8, 12):
        x, weight = torch.ones(size), torch.ones(size, requires_grad=True)
        references = weakref.ref(x), weakref.ref(weight)
        f(x, weight).backward()
        print(round(weight.grad.sum().item(), 3))
        del x, weight
        print(*map(life, references))
