"""What a program under test expects of the debugger, written in its comments.

`# stop: NAME [ID] | x=f32[3] | …` at the end of a line: a breakpoint there stops in that frame, with those locals.
`; ` separates stops in their order, `x3` behind a name says three times; `# stop 3.11: …` and `# stop >=3.12: …`
count on those Pythons alone.
`#: label` names a line.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "tests" / "programs"
"""Programs under test: `traced` run in the test's process, the others in processes of their own."""


@dataclass
class Expected:
    frame: str
    locals: dict[str, str] = field(default_factory=dict)


def expectations(path: Path) -> dict[int, list[Expected]]:
    """Line → the stops there, in order."""
    found: dict[int, list[Expected]] = {}
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for only, text in re.findall(r"# stop ?(\S*): ([^#]+)", line):
            if only.startswith(">="):
                if tuple(map(int, version.split("."))) < tuple(map(int, only[2:].split("."))):
                    continue
            elif only and only != version:
                continue
            for each in text.strip().split("; "):
                frame, *values = each.split(" | ")
                name, times = re.fullmatch(r"(.*?)(?: x(\d+))?", frame.strip()).groups()  # type: ignore[union-attr]
                pairs = dict(value.strip().split("=", 1) for value in values)
                found.setdefault(number, []).extend([Expected(name, pairs)] * int(times or 1))
    assert found, f"{path} expects nothing"
    return found


def labels(path: Path) -> dict[str, int]:
    """Label → line."""
    lines = enumerate(path.read_text().splitlines(), 1)
    return {match[1]: number for number, line in lines if (match := re.search(r"#: (\w+)", line))}


def program(name: str) -> Path:
    """Return the path of a program that a session debugs."""
    return PROGRAMS / "sessions" / name


def line(path: Path, label: str) -> int:
    """Return the line with `#: label`."""
    return labels(path)[label]


def load(path: Path) -> ModuleType:
    """Import a program in this process, under its own name."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def one_in(number: int, names: Iterable[Any]) -> list[Any]:
    """Return names as parameters of a test. The quick tests take one in so many of them; the matrix takes all."""
    marked = enumerate(names)
    return [name if index % number == 1 else _left_to_the_matrix(name) for index, name in marked]


def _left_to_the_matrix(name: Any) -> Any:
    return pytest.param(*(name if isinstance(name, tuple) else (name,)), marks=pytest.mark.matrix)
