"""Where a breakpoint may be: a line `y = TENSOR + i`, traced for i = 0, 1, 2, and the function it is in."""

from __future__ import annotations

import dataclasses
import importlib.util
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from tests.support.marks import PROGRAMS, labels

HERE = PROGRAMS / "matrix"
_PLACE = re.compile(r"^( +)(y = (\w+) \+ i  #: )", re.MULTILINE)
NAMES = ("user_file", "library", "inlined", "resume_function", "generator", "compiled_autograd")


@dataclasses.dataclass(frozen=True)
class Place:
    """`run` compiles and runs the program of the place, for a tensor of that shape."""

    path: Path
    line: int
    function: str
    frame: str
    """Name of the symbolic frame at the line."""
    entry_line: int
    """The first line of the function."""
    entry_frame: str
    run: Callable[..., object]
    tensor: str = "x"
    forward: Callable[[torch.Tensor], torch.Tensor] | None = None
    """The same program uncompiled; None where the place exists only in a compiled one, or in a backward."""

    def backward_of_forward(self) -> None:
        """Capture the backward of `forward`, or run the place's program where there is none."""
        if self.forward is None:
            self.run()
            return
        loss = self.forward(torch.ones(3, requires_grad=True)).sum()
        with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
            loss.backward()


def places(folder: Path, statement: str = "", **options: Any) -> dict[str, Place]:
    """By the names in NAMES. `folder`, an empty one, becomes that of the library's package.

    `statement` stands before each place's own, on its line, about the tensor `{0}`; `options` are `torch.compile`'s.
    """
    package = folder / "site-packages" / "matrix_library"
    package.mkdir(parents=True)
    path, library_path = HERE / "program.py", package / "__init__.py"
    shutil.copy(HERE / "library.py", library_path)
    if statement:
        path = shutil.copy(path, folder / "program.py")
        for each in (path, library_path):
            each.write_text(
                _PLACE.sub(lambda line: f"{line[1]}{statement.format(line[3])}; {line[2]}", each.read_text())
            )
    program, library = _load(path), _load(library_path)
    program.layer = library.layer
    options = {"backend": "eager"} | options

    def backward(*shape: int) -> None:
        with torch._dynamo.compiled_autograd._enable(torch.compile(**options)):
            program.backward(*(shape or (3,)))

    def compiled(root: Callable[..., object]) -> Callable[..., object]:
        function = torch.compile(root, **options)
        return lambda *shape: function(torch.ones(*(shape or (3,))))

    def place(name: str, function: str, root: Callable[..., Any], module: ModuleType = program) -> Place:
        return dataclasses.replace(_place(name, module, function, compiled(root)), forward=root)

    in_resume = _place("resume_function", program, "breaks", compiled(program.breaks), "1/0")
    in_backward = _place("compiled_autograd", program, "hook", backward, "!0/0/0")
    return {
        "user_file": place("user_file", "in_user_file", program.in_user_file),
        "library": place("library", "layer", program.calls_library, library),
        "inlined": place("inlined", "callee", program.calls),
        "resume_function": dataclasses.replace(
            in_resume, entry_frame="breaks [0/0]", entry_line=in_resume.entry_line - 2
        ),
        "generator": place("generator", "numbers", program.consumes),
        "compiled_autograd": dataclasses.replace(in_backward, tensor="gradient"),
    }


def _place(name: str, module: ModuleType, function: str, run: Callable[..., object], compile_id: str = "0/0") -> Place:
    path = Path(str(module.__file__))
    line, frame = labels(path)[name], f"{function} [{compile_id}]"
    return Place(path, line, function, frame, line - 1, frame, run)


def _load(path: Path) -> ModuleType:
    """A module of its own from a file, each time it is asked for."""
    spec = importlib.util.spec_from_file_location(path.parent.name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where Dynamo looks up the globals of a resume function
    spec.loader.exec_module(module)
    return module
