"""Skip tests marked `cuda` where there is no GPU; sum up what they gave, and how far walks through time went."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from tests.support import fork_server, legs, torch_in_servers
from tests.support.backward import gpu_table

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job of a shell; programs would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every-case", action="store_true", help="all cases of long tables, whose turn it is or not")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--every-case") and (left_out := legs.left_to_other_legs(items)):
        config.hook.pytest_deselected(items=left_out)
        items[:] = [test for test in items if test not in left_out]


def pytest_runtest_setup(item: pytest.Item) -> None:
    torch_in_servers.leave_out_guard_latency()
    if item.get_closest_marker("cuda") is None:
        return
    import torch

    if not torch.cuda.is_available():
        why = "finds none" if torch.version.cuda else "is built without CUDA"
        pytest.skip(f"needs a GPU, and torch {torch.__version__} {why}: nothing of it was tested here")


@pytest.fixture(name="gpu_table")
def results(record_property: Callable[[str, object], None]) -> gpu_table.Table:
    """What the tests on a GPU gave."""
    return gpu_table.Table(record_property)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    passed = terminalreporter.stats.get("passed", ())
    for line in gpu_table.lines(passed):
        terminalreporter.write_line(line)
    walks = [value for report in passed for name, value in report.user_properties if name == "moves"]
    if walks:
        moves, back = (sum(column) for column in zip(*walks, strict=True))
        terminalreporter.write_line(f"Time travel: {moves:,} moves in {len(walks)} programs, {back:,} of them back")


def pytest_configure(config: pytest.Config) -> None:
    # Inductor compiles a program for each set of vector instructions in each new cache: 5 CPU seconds
    os.environ.setdefault("TORCHINDUCTOR_VEC_ISA_OK", "1")
    if not hasattr(config, "workerinput") and fork_server.can_be_used():
        for kind in (fork_server.PROGRAMS, fork_server.TOOLS):
            server = fork_server.ForkServer(kind)
            os.environ[kind] = server.address  # workers inherit it
            config.add_cleanup(server.end)
        os.environ["PYTHONPATH"] = fork_server.search_path()


@pytest.fixture(autouse=True)
def real_processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the fork server from the processes of tests with this marker, and of those that need a GPU."""
    if any(map(request.node.get_closest_marker, ("real_processes", "cuda"))):
        monkeypatch.delenv(fork_server.PROGRAMS, raising=False)
