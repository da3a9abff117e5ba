"""Where a breakpoint may be: a line `y = TENSOR + i`, traced for i = 0, 1, 2, and the function it is in."""

from __future__ import annotations

import dataclasses
import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import torch

from tests.agent.marks import labels

HERE = Path(__file__).parent
NAMES = ("user_file", "library", "inlined", "resume_function", "generator", "compiled_autograd")


@dataclasses.dataclass(frozen=True)
class Place:
    """`run` compiles and runs the program of the place once."""

    path: Path
    line: int
    function: str
    frame: str
    """Name of the symbolic frame at the line."""
    entry_line: int
    """The first line of the function."""
    entry_frame: str
    run: Callable[[], object]
    tensor: str = "x"


def places(folder: Path) -> dict[str, Place]:
    """By the names in NAMES. `folder`, an empty one, becomes that of the library's package."""
    package = folder / "site-packages" / "matrix_library"
    package.mkdir(parents=True)
    shutil.copy(HERE / "library.py", package / "__init__.py")
    program, library = _load(HERE / "program.py"), _load(package / "__init__.py")
    program.layer = library.layer

    def backward() -> None:
        with torch._dynamo.compiled_autograd._enable(torch.compile(backend="eager")):
            program.backward()

    def compiled(root: Callable[..., object]) -> Callable[[], object]:
        return lambda: torch.compile(root, backend="eager")(torch.ones(3))

    in_library = _place("library", library, "layer", compiled(program.calls_library))
    in_resume = _place("resume_function", program, "breaks", compiled(program.breaks), "1/0")
    in_backward = _place("compiled_autograd", program, "hook", backward, "!0/0/0")
    return {
        "user_file": _place("user_file", program, "in_user_file", compiled(program.in_user_file)),
        "library": in_library,
        "inlined": _place("inlined", program, "callee", compiled(program.calls)),
        "resume_function": dataclasses.replace(
            in_resume, entry_frame="breaks [0/0]", entry_line=in_resume.entry_line - 2
        ),
        "generator": _place("generator", program, "numbers", compiled(program.consumes)),
        "compiled_autograd": dataclasses.replace(in_backward, tensor="gradient"),
    }


def _place(name: str, module: ModuleType, function: str, run: Callable[[], object], compile_id: str = "0/0") -> Place:
    path = Path(str(module.__file__))
    line, frame = labels(path)[name], f"{function} [{compile_id}]"
    return Place(path, line, function, frame, line - 1, frame, run)


def _load(path: Path) -> ModuleType:
    """A module of its own from a file, each time it is asked for."""
    spec = importlib.util.spec_from_file_location(path.parent.name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
