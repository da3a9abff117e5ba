"""Prints what its compiles leave behind: graphs, guards, bytecode, counters and outputs."""

import re

import torch
from torch._dynamo import convert_frame, guards
from torch._dynamo.utils import counters


def inner(t):
    u = t * 2  #: inner
    return u + 1


def outer(x, n):
    y = inner(x)
    torch._dynamo.graph_break()  #: break
    z = y - n  #: resumed
    return z.sum()


def normal(text):
    text = re.sub(r"0x[0-9a-f]+|\b\d{10,}\b", "ID", str(text))
    text = re.sub(r"__compiled_fn_\d+(_[0-9a-f_]+)?", "__compiled_fn", text)
    return re.sub(r"\b(__[A-Za-z]\w*?|_+stack|torch_dynamo_resume_in_\w+?_at)_?\d+\b", r"\1_N", text)


def backend(graph, inputs):
    print("graph", normal(graph.code))
    return graph.forward


def main():
    make = guards.CheckFunctionManager.__init__

    def note_guards(self, *args, **kwargs):
        make(self, *args, **kwargs)
        print("guards", normal(self.guard_manager))

    def note_code(before, after):
        print("bytecode", after.co_name, normal(after.co_names), len(after.co_code))

    guards.CheckFunctionManager.__init__ = note_guards
    convert_frame.register_bytecode_hook(note_code)
    compiled = torch.compile(outer, backend=backend, dynamic=True)
    for size, n in ((2, 1), (3, 1), (3, 2)):
        print("output", float(compiled(torch.ones(size, 3), n)))
    print("counters", {name: dict(counted) for name, counted in sorted(counters.items())})


if __name__ == "__main__":
    main()
