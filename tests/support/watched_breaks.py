"""Run programs on plain torch, each in a fork of this process, and write down where Dynamo breaks their graphs.

`python -m tests.support.watched_breaks` reads the path of a program in each line, and prints a line of JSON for it: the
place of each break with the text of it, how many compiles ended with a graph or with code, what the program has
printed, and how it failed.
A fork starts as a process of its own would: torch is imported, has compiled a function and was reset, and that is all.
Inductor's caches of graphs are empty at its start, as how often Dynamo compiles depends on them: a graph that is taken
from a cache keeps a float dynamic that a compile of the graph would have made a constant.
"""

from __future__ import annotations

import json
import logging
import os
import re
import runpy
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from types import CodeType
from typing import Any

import torch
import torch._dynamo
import torch._inductor.config
from torch._inductor.runtime.cache_dir_utils import cache_dir

_STACK = re.compile(
    r"(?:\nUser code traceback:|The graph break occurred in the following user code:)\n(.*?)"
    r"(?:\nTraceback \(most recent call last\)|\Z)",
    re.DOTALL,
)
_FRAME = re.compile(r'^  File "(.*)", line (\d+), in ', re.MULTILINE)


class Watch(logging.Handler):
    """What torch's structured trace says of breaks and compiles while a program runs."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = str(folder)
        self.breaks: list[tuple[str, int, str]] = []
        self.compiles: set[str] = set()
        logging.getLogger("torch.__trace").addHandler(self)
        torch._logging.set_logs(graph_breaks=True)  # else breaks that skip a frame are not in the trace
        torch._dynamo.config.verbose = True  # else a method's frame is left out if it calls one of the same name
        torch._dynamo.convert_frame.register_bytecode_hook(self._ended_with_code)

    def emit(self, record: logging.LogRecord) -> None:
        metadata: dict[str, Any] = getattr(record, "metadata", {})
        if "dynamo_output_graph" in metadata:
            self.compiles.add(f"{metadata.get('frame_id')}/{metadata.get('frame_compile_id')}")
        if metadata.get("artifact", {}).get("name") == "dynamo_graph_break_reason":
            text = str(getattr(record, "payload", ""))
            if stack := _STACK.search(text):
                self.breaks.append((*self._innermost(stack[1]), text[: stack.start()]))

    def _innermost(self, stack: str) -> tuple[str, int]:
        """Return the last frame of the user's stack that is in a file of the program itself."""
        for name, line in reversed(_FRAME.findall(stack)):
            if os.path.dirname(name) == self._folder:
                return os.path.basename(name), int(line)
        raise ValueError(f"no frame of the program is in the stack\n{stack}")

    def _ended_with_code(self, code: CodeType, new_code: CodeType) -> None:
        compile_id = torch._guards.CompileContext.current_compile_id()
        assert compile_id is not None
        self.compiles.add(f"{compile_id.frame_id}/{compile_id.frame_compile_id}")


def _run(program: Path) -> dict[str, Any]:
    os.chdir(program.parent)
    sys.argv, sys.path[0] = [str(program)], str(program.parent)
    watch, failed = Watch(program.parent), ""
    try:
        runpy.run_path(str(program), run_name="__main__")
    except BaseException:
        failed = traceback.format_exc()
    return {"breaks": watch.breaks, "compiles": len(watch.compiles), "failed": failed}


def _in_a_fork(program: Path) -> dict[str, Any]:
    for cache in ("fxgraph", "aotautograd"):
        shutil.rmtree(os.path.join(cache_dir(), cache), ignore_errors=True)
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as result:
        child = os.fork()
        if not child:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(printed.fileno(), 1)
            try:
                result.write(json.dumps(_run(program)).encode())
                result.flush()
                sys.stdout.flush()
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        for file in (printed, result):
            file.seek(0)
        seen = result.read() or json.dumps({"breaks": [], "compiles": 0, "failed": f"ended with status {status}"})
        return {**json.loads(seen), "printed": printed.read().decode()}


def _warm_up() -> None:
    """Load what torch loads at its first compile. No backward: autograd's threads do not outlive a fork."""
    torch.set_num_threads(1)
    torch._inductor.config.compile_threads = 1
    torch.compile(lambda x: x.cos() + 1)(torch.ones(3))
    torch._dynamo.reset()


def _main() -> None:
    _warm_up()
    for line in sys.stdin:
        print(json.dumps(_in_a_fork(Path(line.removesuffix("\n")))), flush=True)


if __name__ == "__main__":
    _main()
