"""Runs programs under Dynamo, each in a fork of its own, for their graph breaks: `observing.py PROGRAM…`.

Run with `TORCH_LOGS=graph_breaks`; a line `=== PROGRAM` comes before each one's log on stderr, `--- ERROR` behind it
where it failed.
"""

import os
import random
import runpy
import signal
import sys
import warnings

import torch
import torch._dynamo

SECONDS = 120
SEED = 2


def main() -> None:
    warnings.simplefilter("ignore")
    os.environ["PYTHONBREAKPOINT"] = "0"
    for program in sys.argv[1:]:
        print(f"=== {program}", file=sys.stderr, flush=True)
        child = os.fork()
        if child == 0:
            _run(program)
        os.waitpid(child, 0)


def _run(program: str) -> None:
    """In the child: does not return."""
    signal.alarm(SECONDS)
    torch.set_num_threads(1)
    torch.manual_seed(SEED)  # programs may break where their random numbers lead
    random.seed(SEED)
    sys.argv = [program]
    sys.path.insert(0, os.path.dirname(program))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        runpy.run_path(program, run_name="__main__")
    except BaseException as error:
        print(f"--- {type(error).__name__}: {error}", file=sys.stderr)
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
