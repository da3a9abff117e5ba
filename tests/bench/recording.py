"""What recording costs, a process or a block of it: compile time and bytes, beside TORCH_TRACE and TORCH_LOGS=+dynamo.

Usage: recording.py [BLOCKS [ROUNDS [BACKEND]]]. Each mode runs `transformer.py` in a process of its own, in turn,
so that a busy machine slows all of them alike. A round's ratio is that of the fastest compile of each mode (CPU
seconds); the median over the rounds is held against the limit, and the bytes are those on disk at the end over the
number of compiles. Ratios of a few percent drown in the noise of a shared machine, so one more process adds up the
time spent in the recorder's own functions. That share is larger than the ratio says: a recorded compile runs in a chunk
of frames of its own (`events/wrapped_name.py`), which makes Dynamo itself faster than a plain run that is unlucky with
them. The bias: a model of few distinct lines and one graph flatters us on bytes; the `eager` backend, whose compile is
all tracing, does the opposite on time.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMPILES = 4
"""By a process; one more comes first and is not timed."""
LIMITS = {"time": 1.03, "bytes": 2 << 20}
IN_A_BLOCK = """
import runpy, sys, dynascope
del sys.argv[0]
with dynascope.record():
    runpy.run_path(sys.argv[0], run_name="__main__")
"""


def command(mode: str, folder: Path, arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "adapter"), "OMP_NUM_THREADS": "1"}
    program = [str(HERE / "transformer.py"), *arguments]
    match mode:
        case "recorded":
            environment["DYNASCOPE_FACTS"] = str(folder)
            return [sys.executable, "-m", "dynascope.agent.session.startup.record_launcher", *program], environment
        case "record()":
            return [sys.executable, "-c", IN_A_BLOCK, *program], environment
        case "TORCH_TRACE":
            environment["TORCH_TRACE"] = str(folder)
        case "TORCH_LOGS=+dynamo":
            environment["TORCH_LOGS"] = "+dynamo"
    return [sys.executable, *program], environment


def measure(mode: str, arguments: list[str]) -> tuple[list[float], float]:
    """CPU seconds of each compile, and bytes written per compile."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        line, environment = command(mode, folder, arguments)
        with (folder / "stderr").open("wb") as errors:
            run = subprocess.run(line, env=environment, stdout=subprocess.PIPE, stderr=errors, check=True, timeout=900)
        if "LOGS" not in mode:
            (folder / "stderr").unlink()
        written = sum(each.stat().st_size for each in folder.iterdir() if each.name != ".gitignore")
        seconds = json.loads(run.stdout.decode().rpartition("SECONDS ")[2])["cpu"]
    return seconds, written / (len(seconds) + 1)


def time_inside(arguments: list[str]) -> float:
    """Seconds in the recorder's functions by seconds of the compile: the median over compiles, in this process."""
    import time

    import torch
    import transformer
    from dynascope.agent.recorder import process
    from dynascope.agent.recorder.recorder import Recorder
    from spent import Spent

    spent = Spent()
    for name, method in list(vars(Recorder).items()):
        if callable(method) and not name.startswith("__"):
            spent.count(Recorder, name)
    backend, blocks, compiles = arguments
    torch.set_num_threads(1)
    model = torch.nn.Sequential(*(transformer.Block() for _ in range(int(blocks)))).eval()
    shares = []
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        os.environ["DYNASCOPE_FACTS"] = folder
        process.begin()
        for _ in range(int(compiles) + 1):
            torch._dynamo.reset()
            spent.seconds, began = 0.0, time.thread_time()
            torch.compile(model, backend=backend)(torch.randn(2, 8, 32))
            shares.append(spent.seconds / (time.thread_time() - began - spent.seconds))
    return statistics.median(shares[1:])


def main(blocks: str = "24", rounds: str = "3", backend: str = "eager") -> int:
    modes = ["plain", "recorded", "record()", "TORCH_TRACE", "TORCH_LOGS=+dynamo"]
    seconds: dict[str, list[float]] = {mode: [] for mode in modes}
    ratios: dict[str, list[float]] = {mode: [] for mode in modes}
    written = {}
    for _ in range(int(rounds)):
        plain = 0.0
        for mode in modes:
            times, written[mode] = measure(mode, [backend, blocks, str(COMPILES)])
            plain = plain or min(times)
            seconds[mode] += times
            ratios[mode].append(min(times) / plain)
            print(f"{mode:22}{min(times):10.3f} s{ratios[mode][-1]:8.3f}", flush=True)
    print(f"{blocks} blocks, backend {backend}, {rounds} rounds of {COMPILES} compiles a mode")
    print(f"{'mode':22}{'fastest s':>10}{'median s':>10}{'ratio: median':>15}{'min':>8}{'max':>8}{'MB a compile':>14}")
    for mode in modes:
        fastest, median, rates = min(seconds[mode]), statistics.median(seconds[mode]), ratios[mode]
        print(
            f"{mode:22}{fastest:10.3f}{median:10.3f}{statistics.median(rates):15.3f}{min(rates):8.3f}{max(rates):8.3f}"
            f"{written[mode] / 2**20:14.2f}"
        )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "adapter"), str(HERE)])}
    inside = [sys.executable, __file__, "--inside", backend, blocks, str(COMPILES * int(rounds))]
    share = subprocess.run(inside, env=environment, stdout=subprocess.PIPE, check=True, timeout=900).stdout
    print(f"recorder's own functions: {1 + float(share.split()[-1]):.3f}")
    ratio = max(statistics.median(ratios[mode]) for mode in ("recorded", "record()"))
    kept = ratio <= LIMITS["time"] and written["recorded"] <= LIMITS["bytes"]
    print(f"limits: {LIMITS['time']} in time, {LIMITS['bytes'] / 2**20} MB a compile: {'kept' if kept else 'NOT KEPT'}")
    return 0 if kept else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        print(time_inside(sys.argv[2:]))
    else:
        sys.exit(main(*sys.argv[1:]))
