"""List the launches of a store, newest first, with sums of what was compiled in each."""

from __future__ import annotations

from msgspec import Struct

from dynascope.facts import model
from dynascope.facts.pruning import is_running
from dynascope.facts.reader import OF_LAUNCH, Reader

_COMPILES = f"""
    SELECT run_id, sum(status IN {model.COMPILES!r}), sum(status = 'skipped'), sum(status = 'failed'), sum(graphs),
    sum(seconds) FROM compile GROUP BY run_id"""
_BREAKS = "SELECT run_id, sum(count) FROM graph_break b JOIN compile c ON c.id = b.compile_id GROUP BY run_id"
_RECOMPILES = """
    SELECT run_id, count(DISTINCT r.compile_id) FROM recompile r JOIN compile c ON c.id = r.compile_id
    WHERE NOT limit_reached GROUP BY run_id"""


class Launch(Struct):
    """The processes that one command started, oldest first, and sums over them."""

    runs: list[model.Run]
    compiles: int = 0
    skipped: int = 0
    failed: int = 0
    graphs: int = 0
    breaks: int = 0
    recompiles: int = 0
    seconds: float = 0.0
    compiling: list[model.Run] = []
    """The processes that have compiles, or skipped frames."""

    @property
    def name(self) -> str:
        return self.first.launch

    @property
    def first(self) -> model.Run:
        """Return the process that was started first: its command line is the user's."""
        return self.runs[0]

    @property
    def is_running(self) -> bool:
        """Whether a process of it runs on this machine, and is still recorded."""
        return any(each.ended is None and is_running(each.host, each.pid) for each in self.runs)


def launches(reader: Reader) -> list[Launch]:
    """Return all launches of a store, the newest first."""
    found: dict[str, Launch] = {}
    of_run: dict[int, tuple[Launch, model.Run]] = {}
    for run in reader.runs():
        launch = found.setdefault(run.launch, Launch([]))
        launch.runs.append(run)
        of_run[run.id] = launch, run
    for each in found.values():
        each.runs.sort(key=lambda run: run.began)
    # a run that begins meanwhile is not known yet
    for number, *sums in reader.execute(_COMPILES):
        if number in of_run:
            launch, run = of_run[number]
            launch.compiling.append(run)
            for name, value in zip(("compiles", "skipped", "failed", "graphs", "seconds"), sums, strict=True):
                setattr(launch, name, getattr(launch, name) + value)
    for query, name in ((_BREAKS, "breaks"), (_RECOMPILES, "recompiles")):
        for number, value in reader.execute(query):
            if number in of_run:
                setattr(of_run[number][0], name, getattr(of_run[number][0], name) + value)
    return list(found.values())


def breaks_by_compile(reader: Reader, launch: str) -> dict[int, int]:
    """Return how many graph breaks each compile of a launch has that has any."""
    where = OF_LAUNCH.format(alias="graph_break")
    query = f"SELECT compile_id, sum(count) FROM graph_break WHERE {where} GROUP BY compile_id"
    return dict(reader.execute(query, (launch,)))
