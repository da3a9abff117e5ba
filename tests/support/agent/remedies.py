"""Apply a remedy, as Dynascope tells it, to a whole program, and count how often that is compiled."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch._dynamo import convert_frame

from tests.support.marks import load

_MARK = re.compile(r"`torch\._dynamo\.(?:decorators\.)?(?:maybe_)?(mark_\w+)\((.+?), (\d+)\)`")
_SIZE = re.compile(r"`([^`]+)\.size\(\)\[(\d+)\]`")
_SETTING = re.compile(r"`(torch\.[\w.]+config)\.(\w+) = (.+?)`")


def compiles(path: Path, main: str, remedy: str) -> tuple[int, str]:
    """Return how often a program compiles its function with a remedy, and its results."""
    program, compile_plainly, counted = load(path), torch.compile, list[Any]()
    marks = [(kind, place, int(dimension)) for kind, place, dimension in _MARK.findall(remedy)]
    if "mark them all" in remedy:
        marks += [("mark_dynamic", place, int(dimension)) for place, dimension in _SIZE.findall(remedy)]

    def compile_with(function: Any = None, **options: Any) -> Any:
        if "`dynamic=True`" in remedy:
            options["dynamic"] = True
        compiled = compile_plainly(function, **options)

        @functools.wraps(compiled)
        def call(*arguments: Any, **named: Any) -> Any:
            names = inspect.signature(function).bind(*arguments, **named).arguments if marks else {}
            for kind, place, dimension in marks:
                mark = "maybe_mark_dynamic" if kind == "mark_dynamic" else kind
                getattr(torch._dynamo.decorators, mark)(eval(place, {}, names), dimension)
            result = compiled(*arguments, **named)
            if '"eager_on_recompile"' in remedy:
                torch.compiler.set_stance("eager_on_recompile")
            return result

        return call

    with contextlib.ExitStack() as stack:
        for module, setting, value in _SETTING.findall(remedy):
            wanted = value.strip('"') if '"' in value else value == "True"
            stack.enter_context(mock.patch.object(sys.modules[module], setting, wanted))
        stack.enter_context(mock.patch.object(torch, "compile", compile_with))
        hook = convert_frame.register_bytecode_hook(lambda before, after: counted.append(after))
        stack.callback(hook.remove)
        stack.callback(torch.compiler.set_stance, "default")
        torch._dynamo.reset()
        output = str(getattr(program, f"main_{main}")())
    return len(counted), output
