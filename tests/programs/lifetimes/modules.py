"""Programs that drop modules, parameters, buffers, hooks and subclasses of tensors."""

import gc
import sys
import types
import weakref

import torch


def life(reference: weakref.ref) -> str:
    return "dead" if reference() is None else "alive"


class Net(torch.nn.Module):
    def __init__(self, width: int = 3) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(width, width)
        self.register_buffer("shift", torch.ones(width))

    def forward(self, x):
        return self.inner(x).relu() + self.shift


class Tagged(torch.Tensor):
    """A subclass whose instances have a tag."""


def program_module_dropped() -> None:
    for width in (2, 3, 4):
        net = Net(width)
        references = weakref.ref(net), weakref.ref(net.inner), weakref.ref(net.inner.weight), weakref.ref(net.shift)
        compiled = torch.compile(net, backend="eager")
        print(tuple(compiled(torch.ones(2, width)).shape))
        del net, compiled
        gc.collect()
        print(*map(life, references))


def program_module_as_an_argument() -> None:
    @torch.compile(backend="eager")
    def f(net, x):
        return net(x) * 2

    net = Net()
    references = weakref.ref(net), weakref.ref(net.inner.weight)
    print(tuple(f(net, torch.ones(2, 3)).shape))
    del net
    print(*map(life, references))


def program_parameter_replaced() -> None:
    net = Net()
    compiled = torch.compile(net, backend="eager")
    for n in range(3):
        weight = weakref.ref(net.inner.weight)
        print(tuple(compiled(torch.ones(2, 3)).shape))
        net.inner.weight = torch.nn.Parameter(torch.full((3, 3), float(n)))
        print(life(weight))


def program_submodule_replaced() -> None:
    net = Net()
    compiled = torch.compile(net, backend="eager")
    for _ in range(3):
        inner = weakref.ref(net.inner)
        compiled(torch.ones(2, 3))
        net.inner = torch.nn.Linear(3, 3)
        print(life(inner))


def program_forward_hooks() -> None:
    class Noted:
        calls = 0

        def __call__(self, module, arguments, result):
            return result + 1

    net = Net()
    hook = Noted()
    reference = weakref.ref(hook)
    handle = net.register_forward_hook(hook)
    del hook
    compiled = torch.compile(net, backend="eager")
    print(tuple(compiled(torch.ones(2, 3)).shape), life(reference))
    handle.remove()
    print(tuple(compiled(torch.ones(2, 3)).shape), life(reference))


def program_module_of_python_dropped() -> None:
    made = types.ModuleType("made_here")
    exec("import torch\nclass Table:\n    scale = 3\ndef f(x):\n    return x * Table.scale", vars(made))
    sys.modules["made_here"] = made
    references = weakref.ref(made), weakref.ref(made.Table), weakref.ref(made.f)
    print(torch.compile(made.f, backend="eager")(torch.ones(2)).sum().item())
    del sys.modules["made_here"], made
    torch._dynamo.reset()
    gc.collect()
    print(*map(life, references))


def program_subclass_of_tensor() -> None:
    @torch.compile(backend="eager")
    def f(x):
        return x * 2 + 1

    for size in (2, 3, 4):
        x = torch.ones(size).as_subclass(Tagged)
        x.tag = "t"
        reference = weakref.ref(x)
        out = f(x)
        print(type(out).__name__, out.sum().item())
        del x
        print(life(reference))


def program_metadata_of_a_tensor() -> None:
    class Note:
        pass

    @torch.compile(backend="eager")
    def f(x):
        return x.sin()

    x = torch.zeros(2)
    x.note = Note()
    reference = weakref.ref(x.note)
    print(f(x).sum().item())
    del x
    print(life(reference))


def program_modules_in_a_list() -> None:
    layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))

    @torch.compile(backend="eager")
    def f(x, layers):
        for layer in layers:
            x = layer(x)
        return x

    references = [weakref.ref(layer) for layer in layers]
    f(torch.ones(2), layers)
    del layers[0]
    print(*map(life, references))
    f(torch.ones(2), layers)
    del layers
    print(*map(life, references))


def program_module_dropped_with_inductor() -> None:
    for width in (4, 8, 4):
        net = Net(width)
        references = weakref.ref(net), weakref.ref(net.inner.weight), weakref.ref(net.shift)
        compiled = torch.compile(net)
        print(tuple(compiled(torch.ones(2, width)).shape))
        del net, compiled
        gc.collect()
        print(*map(life, references))


def program_inference_with_inductor() -> None:
    net = Net(4).eval()
    compiled = torch.compile(net)
    with torch.no_grad():
        for batch in (2, 3, 4):
            x = torch.ones(batch, 4)
            reference = weakref.ref(x)
            print(tuple(compiled(x).shape))
            del x
            print(life(reference))
