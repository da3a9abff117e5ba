"""Runs programs recorded, each in a fork of its own: `recording_programs.py`, jobs as JSON lines on stdin.

A job is `{"program", "facts"}`: the path of the program, whose folder it runs in, and the folder its facts go to. There
are `output` and `errors`, too, and `exit_code` when it has ended. Importing torch once for all takes most of the time
out of it.
"""

import atexit
import json
import os
import random
import runpy
import signal
import sys
import traceback
from pathlib import Path

import torch
import torch._dynamo
from dynascope.agent.recorder import process

SECONDS = 120


def main() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        folder = Path(job["facts"])
        folder.mkdir(parents=True, exist_ok=True)
        child = os.fork()
        if child == 0:
            _run(job["program"], folder)
        _, status = os.waitpid(child, 0)
        (folder / "exit_code").write_text(str(os.waitstatus_to_exitcode(status)))


def _run(program: str, folder: Path) -> None:
    """In the child: does not return."""
    signal.alarm(SECONDS)
    for number, name in ((0, os.devnull), (1, folder / "output"), (2, folder / "errors")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
    os.environ["DYNASCOPE_FACTS"] = str(folder)
    os.chdir(os.path.dirname(program))
    torch.set_num_threads(1)
    random.seed(0)
    torch.manual_seed(0)
    sys.dont_write_bytecode = True
    sys.argv = [program]
    sys.path.insert(0, os.path.dirname(program))
    process.begin()
    code = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as error:
        code = int(error.code or 0)
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
