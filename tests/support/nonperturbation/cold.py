"""Run programs in processes that have compiled nothing, and tell what each has printed, compiled and used.

`import torch` takes seconds: a server imports it, compiles nothing, and forks a process for each run. It may run no
operator on several threads before: OpenMP's do not survive a fork.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import CellType
from typing import Any, NamedTuple, NoReturn

import msgspec

ROOT = Path(__file__).parents[3]
FOLDER = "tests.programs.lifetimes"
COLLECTIONS = "on", "off", "threshold 1"
"""How the garbage collector is set before the program begins. Inductor's caches are used with the first alone."""
_PATH = os.pathsep.join([str(ROOT), str(ROOT / "adapter")])
_AGENT = ROOT / "adapter" / "dynascope" / "agent"
_counted: list[CellType] = []
_CHANGING = re.compile(
    r"0x[0-9a-f]{6,}|(?<=_)\d{12,}(?=_ID)|^[VDIWE]\d{4} [\d:.]+ \d+ |^[A-Z]+:\S+ \S+ \d+:\d+ ", re.MULTILINE
)
"""Addresses, in names of guarded globals too, and the time and the process in lines of torch's logs and profiler."""


class Run(NamedTuple):
    """One run of a program: in which mode, with which setting of the collector."""

    file: str
    program: str
    mode: str
    collections: str


class Seen(msgspec.Struct):
    """What a run has left: equal for equal programs, but for the peak of memory."""

    output: str = ""
    errors: str = ""
    status: int = 0
    compiled: dict[str, str] = msgspec.field(default_factory=dict)
    """Graphs, guards, bytecode and counters, each as one text."""
    peak: int = 0
    """The most memory that the process has used while the program ran, in KiB."""

    def differences(self, other: Seen) -> dict[str, tuple[str, str]]:
        """Return the parts that differ, each with the first line that does, here and there."""
        here, there = self._parts(), other._parts()
        return {
            name: _first_difference(text, there.get(name, ""))
            for name, text in here.items()
            if there.get(name, "") != text
        }

    def _parts(self) -> dict[str, str]:
        return {"output": self.output, "errors": self.errors, "status": str(self.status), **self.compiled}


def _first_difference(here: str, there: str) -> tuple[str, str]:
    lines, others = here.splitlines(), there.splitlines()
    for number in range(max(len(lines), len(others))):
        pair = (lines[number : number + 1] or ["(nothing)"])[0], (others[number : number + 1] or ["(nothing)"])[0]
        if pair[0] != pair[1]:
            return pair
    return here, there


class Server:
    """A process with torch imported, which runs programs in processes of their own."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="cold"))
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("DYNASCOPE_")}
        self._environment |= {"TORCHINDUCTOR_COMPILE_THREADS": "1", "PYTHONPATH": _PATH, "PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=self._environment,
        )

    def run(self, run: Run) -> Seen:
        """Run a program to its end."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(run) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        return self._seen(status)

    def run_in_new_process(self, run: Run) -> Seen:
        """Run a program in a process that is not forked."""
        command = [sys.executable, "-m", __name__, str(self._folder), json.dumps(run)]
        return self._seen(subprocess.run(command, cwd=ROOT, env=self._environment).returncode)

    def _seen(self, status: int) -> Seen:
        seen_at, output, errors = (self._folder / name for name in ("seen", "output", "errors"))
        seen = msgspec.json.decode(seen_at.read_bytes(), type=Seen) if seen_at.exists() else Seen()
        seen.status, seen.output, seen.errors = status, output.read_text(), _normal(errors.read_text())
        for path in (seen_at, output, errors):
            path.unlink(missing_ok=True)
        return seen

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_OF_DUMMIES = re.compile(r"Exception ignored in: <function \w+\.__del__ at >\nTraceback .*\n(?: .*\n)+\w*Error: .*\n")
"""Dynamo makes and drops an object of each class that the code instantiates, once in each trace (2.13, 2.14)."""


def _normal(text: str) -> str:
    text = _CHANGING.sub("", text)
    told = set(_OF_DUMMIES.findall(text))
    return _OF_DUMMIES.sub("", text) + "".join(sorted(told))


def programs() -> list[tuple[str, str]]:
    """Return (file, program) of each program, without importing them."""
    folder = ROOT.joinpath(*FOLDER.split("."))
    return [
        (path.stem, name)
        for path in sorted(folder.glob("*.py"))
        for name in re.findall(r"^def (program_\w+)\(", path.read_text(), re.MULTILINE)
    ]


# ---- the server


def _serve(folder: Path) -> None:
    """Fork for each line on standard input a process that runs what it has been given."""
    import torch._dynamo
    import torch._inductor.compile_fx  # noqa: F401

    from tests.support import torch_in_servers
    from tests.support.nonperturbation import capture, modes  # noqa: F401

    for name in (*torch_in_servers.modules_of_a_compile(), *_agents_modules()):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    torch_in_servers.leave_out_guard_latency()
    torch_in_servers.keep_finalizers_from_the_end()
    gc.collect()
    gc.freeze()  # as a process in which torch has just been imported: no collection visits its modules again and again
    for line in sys.stdin:
        run = Run(*json.loads(line))
        if run.program.endswith("inductor"):
            find_vector_instructions()
        process = os.fork()
        if process == 0:
            _run(run, folder)
            _end(run)
        print(_status(process), flush=True)


def find_vector_instructions() -> None:
    """Let Inductor find out, once for all processes that are forked, which the processor has.

    For each set of them it compiles a file and starts a process, which imports torch up to 2.12: 15 seconds.
    """
    from torch._inductor.cpu_vec_isa import valid_vec_isa_list

    valid_vec_isa_list()


def _agents_modules() -> list[str]:
    """Return the names of the agent's modules, without those that do something when they are imported."""
    left_out = {*(_AGENT / "session" / "api").iterdir(), *(_AGENT / "session" / "startup").iterdir()}
    paths = {path for path in _AGENT.rglob("*.py") if path.name != "__init__.py"} - left_out
    return [".".join(path.relative_to(_AGENT.parents[1]).with_suffix("").parts) for path in sorted(paths)]


def _status(process: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _run(run: Run, folder: Path) -> None:
    import torch

    from tests.support.nonperturbation.modes import MODES

    for name, descriptor in (("output", 1), ("errors", 2)):
        opened = os.open(folder / name, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[attr-defined]
    warnings.simplefilter("default")
    os.environ["DYNASCOPE_FACTS"] = str(folder / "facts" / str(os.getpid()))
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(folder / "inductor"))
    if run.collections != "on":
        torch._inductor.config.fx_graph_cache = torch._functorch.config.enable_autograd_cache = False
    torch.manual_seed(0)
    if run.collections == "off":
        gc.disable()
    elif run.collections == "threshold 1":
        gc.set_threshold(1)
        _leave_out_frames_of_collections()
    program = getattr(importlib.import_module(f"{FOLDER}.{run.file}"), run.program)
    noted: dict[str, Any] = {}
    _forget_peak()
    counts = gc.get_count()
    with MODES[run.mode]():
        _count_from(counts)
        with _noting(noted):
            program()
    seen = Seen(compiled=noted, peak=_peak())
    folder.joinpath("seen").write_bytes(msgspec.json.encode(seen))


def _leave_out_frames_of_collections() -> None:
    """Let Dynamo not count the functions that a collection calls when compiled code begins to run.

    Torch keeps fake tensors in weak dictionaries. With a threshold of 1 a collection comes at each container that is
    made, and which of them visits the fake tensors differs between plain runs, too.
    """
    from torch._dynamo.eval_frame import skip_code

    for dictionary in weakref.WeakValueDictionary(), weakref.WeakKeyDictionary():
        skip_code(dictionary._remove.__code__)


def _end(run: Run) -> NoReturn:
    """End the process as Python does, but leave the modules that are not the program's: that takes as long as a run."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    vars(sys.modules[f"{FOLDER}.{run.file}"]).clear()
    gc.collect()
    sys.stdout.flush()
    os._exit(0)


def _count_from(counts: tuple[int, int, int]) -> None:
    """Let the collector count from here, as where Dynascope's modules were loaded before the program."""
    youngest, young, old = counts
    was_enabled = gc.isenabled()
    gc.disable()
    gc.freeze()
    for _ in range(old):
        gc.collect(1)
    for _ in range(young):
        gc.collect(0)
    _counted.extend([CellType() for _ in range(youngest - gc.get_count()[0])])
    if was_enabled:
        gc.enable()


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


@contextlib.contextmanager
def _noting(noted: dict[str, Any]) -> Iterator[None]:
    """Note what is compiled: graphs, guards of all kinds, bytecode, and what torch counts."""
    from torch._dynamo.utils import counters

    from tests.support.nonperturbation.capture import Traces, graphs, guards_and_bytecode

    traces = Traces()
    with guards_and_bytecode(traces), graphs(traces):
        yield
    noted["graphs"] = "\n".join(traces.graphs)
    noted["guards"] = _normal("\n".join(traces.guards))
    noted["bytecode"] = _normal("\n".join(traces.bytecode))
    counted = (f"{kind} {name} {count}" for kind, counts in counters.items() for name, count in counts.items())
    noted["counters"] = _normal("\n".join(sorted(counted)))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        _serve(Path(sys.argv[1]))
    else:
        _run(Run(*json.loads(sys.argv[2])), Path(sys.argv[1]))
        _end(Run(*json.loads(sys.argv[2])))
