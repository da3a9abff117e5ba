"""What comparing compiles between ranks costs: `python -m tests.bench.comparing_ranks [RANKS [BLOCKS [BACKEND]]]`.

Each rank of a gloo job is recorded and compiles a transformer again and again, each block with a collective. Printed
are the CPU seconds in the functions that compare, as a share of those of the compile without them, and what goes over
the job's store for each line that Dynamo traced. A ratio of two runs would drown in the noise of a machine that the
ranks share. The bias: all ranks are alike, so that none sends its trail a second time to tell where they part; and a
model of few distinct lines, traced again for each block, compresses well.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMPILES = 5
"""By each rank; one more comes first and is not counted."""
LIMITS = {"time": 1.03, "bytes": 100}


class CountedStore:
    """A store that counts the bytes of the keys that it is asked for and of the values that it is given."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.sent = 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)

        def call(*args: Any) -> Any:
            keys = args[0] if isinstance(args[0], list) else [args[0]]
            self.sent += sum(map(len, keys)) + sum(len(each) for each in args[1:] if isinstance(each, (str, bytes)))
            return method(*args)

        return call


def rank(blocks: int, backend: str) -> None:
    """Compile as one rank of a job, and print what comparing cost."""
    import torch
    from dynascope.agent.ranks import exchange
    from dynascope.agent.ranks.comparison import CollectivesOfGraphs, RankComparison
    from dynascope.agent.recorder import process

    from tests.bench import transformer
    from tests.bench.spent import Spent

    class Block(transformer.Block):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.distributed._functional_collectives.all_reduce(super().forward(x), "sum", group)

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    group = torch.distributed.group.WORLD
    torch.manual_seed(0)
    model = torch.nn.Sequential(*(Block() for _ in range(blocks))).eval()

    def step(x: torch.Tensor) -> torch.Tensor:
        return model(x)

    spent, lines = Spent(), 0
    stores: list[CountedStore] = []
    spent.count(RankComparison, "compiled")
    spent.count(CollectivesOfGraphs, "add")
    connect, decisions = exchange.Exchange.__init__, exchange.decisions

    def connected(self: Any, *args: Any) -> None:
        connect(self, *args)
        self._store = CountedStore(self._store)
        stores.append(self._store)

    def decided(parts: Any) -> str:
        nonlocal lines
        lines += sum(len(part.trail.lines) for part in parts)
        return decisions(parts)

    exchange.Exchange.__init__ = connected  # type: ignore[method-assign]
    exchange.decisions = decided
    process.begin()
    shares, sizes = [], []
    with torch.no_grad():
        for _ in range(COMPILES + 1):
            torch._dynamo.reset()
            spent.seconds, lines, before = 0.0, 0, sum(each.sent for each in stores)
            began = time.process_time()
            torch.compile(step, backend=backend)(torch.randn(2, 8, 32))
            shares.append(spent.seconds / (time.process_time() - began - spent.seconds))
            sizes.append((sum(each.sent for each in stores) - before) / max(lines, 1))
    torch.distributed.barrier()
    figures = {"time": 1 + statistics.median(shares[1:]), "bytes": statistics.median(sizes[1:]), "lines": lines}
    sys.stdout.write(f"{json.dumps(figures)}\n")  # in one write: the ranks share their output
    sys.stdout.flush()
    torch.distributed.destroy_process_group()


def main(ranks: str = "2", blocks: str = "24", backend: str = "eager") -> int:
    """Run the job, and print the figures of each rank."""
    with tempfile.TemporaryDirectory() as folder:
        python_path = os.pathsep.join([str(ROOT / "adapter"), str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": python_path, "OMP_NUM_THREADS": "1", "DYNASCOPE_FACTS": folder}
        launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
        command = [*launcher, "-m", "tests.bench.comparing_ranks", "--rank", blocks, backend]
        run = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=900)
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith(b"{")]
    print(f"{ranks} ranks, {blocks} blocks, backend {backend}, {COMPILES} compiles of {found[0]['lines']} lines")
    for each in found:
        print(f"time {each['time']:.4f}, bytes for a line {each['bytes']:.1f}")
    kept = all(each[name] <= LIMITS[name] for each in found for name in LIMITS)
    print(f"limits: {LIMITS['time']} in time, {LIMITS['bytes']} bytes: {'kept' if kept else 'NOT KEPT'}")
    return 0 if kept else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        rank(int(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(main(*sys.argv[1:]))
