"""What a program says of its own recompiles in its last comments, and what plain torch makes of it.

    # function: Decoder.step                     the qualified name of the function that is compiled again
    # compiles: 3                                how often its code is compiled; where the limit is hit, real compiles
    # over: yes                                  whether the next call with a new value compiles nothing
    # next: decoder.step(x, 7)                   the statement that makes that call, after the program
    # limit: reached                             if the recompile limit was hit, the last call of the program included
    # remedy: 12 -> TEXT   -> compiles 1         a change (`edited_programs`); the best one first
    # best: none                                 where nothing helps that keeps what is printed

`measured` runs a program, its next call and its remedies in one child process, each after `torch._dynamo.reset()`, or
each in a process of its own. It uses nothing of Dynascope: what that says is to be compared with this.
"""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import os
import re
import subprocess
import sys
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.edited_programs import Edit, edited, edits_in

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "programs" / "sentences" / "recompiles"
_REMEDY = re.compile(r"# remedy: (.+?) +-> compiles (\d+)")
_CONFIGS = (
    "torch._dynamo.config",
    "torch._functorch.config",
    "torch._inductor.config",
    "torch.fx.experimental._config",
    "torch.compiler.config",
)


@dataclass(frozen=True)
class RemedyOfProgram:
    text: str
    edits: tuple[Edit, ...]
    compiles: int


@dataclass(frozen=True)
class Truth:
    """What the comments of a program say."""

    function: str
    compiles: int
    over: bool
    next_call: str
    limit_reached: bool
    remedies: tuple[RemedyOfProgram, ...]
    """None where nothing helps."""


@dataclass
class Run:
    """What a run gave: compiles by qualified name, and the functions that hit the recompile limit."""

    compiles: dict[str, int] = field(default_factory=dict)
    next_compiles: dict[str, int] = field(default_factory=dict)
    """Those of the call after the program."""
    at_limit: list[str] = field(default_factory=list)
    printed: str = ""
    failed: str = ""


def programs() -> list[Path]:
    """Return the programs of the corpus."""
    return sorted(FOLDER.glob("*.py"))


def truth_in(source: str) -> Truth:
    """Return what the comments of a program say."""
    lines = source.splitlines()
    said = dict(found.groups() for line in lines if (found := re.fullmatch(r"# (\w+): (.+)", line)))
    remedies = []
    for line in lines:
        if line.startswith("# remedy: "):
            found = _REMEDY.fullmatch(line)
            if found is None:
                raise ValueError(f"how many compiles? {line}")
            remedies.append(RemedyOfProgram(found[1], edits_in(found[1]), int(found[2])))
    if bool(remedies) == (said.get("best") == "none") or said["over"] not in ("yes", "no"):
        raise ValueError("a program has remedies or `best: none`, and is over or not")
    return Truth(
        said["function"],
        int(said["compiles"]),
        said["over"] == "yes",
        said["next"],
        said.get("limit") == "reached",
        tuple(remedies),
    )


WITHOUT_GRAPH_CACHES = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
"""A graph that an earlier process has cached has fewer guards: its backward is not compiled again."""


def measured(path: Path, separately: bool = False) -> list[Run]:
    """Return what plain torch makes of the program, and of each of its remedies in their order.

    In one process, or each run in its own, which takes longer and must give the same.
    """
    truth = truth_in(path.read_text())
    runs = range(len(truth.remedies) + 1)
    groups = [[each] for each in runs] if separately else [list(runs)]
    results: list[Run] = []
    for group in groups:
        command = [sys.executable, "-m", "tests.support.sentence_programs", str(path), *map(str, group)]
        environment = {**os.environ, "TORCHINDUCTOR_VEC_ISA_OK": "1", **WITHOUT_GRAPH_CACHES}
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL, cwd=ROOT
        )
        if done.returncode:
            raise RuntimeError(f"{path.name}: {done.stderr}")
        results += [Run(**each) for each in json.loads(done.stdout.splitlines()[-1])]
    return results


class _Counts:
    """The compiles that succeed, by qualified name.

    Wraps `_compile` of `torch._dynamo.convert_frame`, which returns the guarded code, or says why there is none, and
    `exceeds_recompile_limit`, which it asks before it compiles.
    """

    def __init__(self) -> None:
        self.compiles: Counter[str] = Counter()
        self.at_limit: list[str] = []
        self._compiling: list[str] = []

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        from torch._dynamo import convert_frame

        compile_frame, exceeds = convert_frame._compile, convert_frame.exceeds_recompile_limit

        def counted(code: types.CodeType, *args: Any, **kwargs: Any) -> Any:
            self._compiling.append(code.co_qualname)
            try:
                result = compile_frame(code, *args, **kwargs)
            finally:
                self._compiling.pop()
            self.compiles[code.co_qualname] += result.guarded_code is not None
            return result

        def heard(*args: Any, **kwargs: Any) -> Any:
            result = exceeds(*args, **kwargs)
            if result[0] and self._compiling[-1] not in self.at_limit:
                self.at_limit.append(self._compiling[-1])
            return result

        convert_frame._compile, convert_frame.exceeds_recompile_limit = counted, heard
        try:
            yield
        finally:
            convert_frame._compile, convert_frame.exceeds_recompile_limit = compile_frame, exceeds


def run(source: str, path: str, next_call: str) -> Run:
    """Run a program with fresh globals and torch as it is at the start, then the next call."""
    counts, printed = _Counts(), io.StringIO()
    module = types.ModuleType("__main__")
    module.__dict__["__file__"] = path
    before, sys.modules["__main__"] = sys.modules["__main__"], module
    linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
    result = Run()
    try:
        with _torch_as_it_was(), counts.counting():
            with contextlib.redirect_stdout(printed):
                exec(compile(source, path, "exec"), module.__dict__)
            result.compiles, result.at_limit = dict(counts.compiles), list(counts.at_limit)
            with contextlib.redirect_stdout(io.StringIO()):
                exec(next_call, module.__dict__)
            result.next_compiles = dict(counts.compiles - Counter(result.compiles))
    except Exception as error:
        result.failed = f"{type(error).__name__}: {error}"
    finally:
        sys.modules["__main__"] = before
    result.printed = printed.getvalue()
    return result


@contextlib.contextmanager
def _torch_as_it_was() -> Iterator[None]:
    """Begin without compiled code, and put back what a program may set."""
    import torch

    torch._dynamo.reset()
    configs = [sys.modules[name] for name in _CONFIGS if name in sys.modules]
    saved = [config.get_config_copy() for config in configs]
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    environment = dict(os.environ)
    try:
        with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(True):
            yield
    finally:
        for config, state in zip(configs, saved, strict=True):
            now = config.get_config_copy()
            for name in (each for each in state if now[each] != state[each]):
                setattr(config, name, state[name])
        torch.set_default_dtype(dtype)
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(False)
        os.environ.clear()
        os.environ.update(environment)


def _child(path: str, wanted: list[int]) -> None:
    source = Path(path).read_text()
    truth = truth_in(source)
    programs = [source, *(edited(source, each.edits)[0] for each in truth.remedies)]
    print(json.dumps([vars(run(programs[each], path, truth.next_call if not each else "")) for each in wanted]))


if __name__ == "__main__":
    _child(sys.argv[1], [int(each) for each in sys.argv[2:]])
