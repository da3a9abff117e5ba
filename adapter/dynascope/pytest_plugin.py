"""The pytest plugin: tests that fail on graph breaks, recompiles and failures of what they compile.

`@pytest.mark.dynascope(graph_breaks=0)` checks one test, `--dynascope-fail-on` all of them. Nothing is recorded in
tests for which neither asks, and nothing but pytest is imported before one does.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dynascope.in_process.recording import Recording
    from dynascope.in_process.started_programs import StartedPrograms
    from dynascope.in_process.successive import SuccessiveBlocks
    from dynascope.report.check.baseline import KnownProblem

_MARK = "dynascope"
_OF_WORKER = "dynascope"
"""The key in `workeroutput` of what a worker of xdist sends: problems, torch's version, the number of tests."""
_IN_FULL = 3
"""The most problems of a kind that a failure tells in full."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, and settings of the same names for pytest's configuration file."""
    group = parser.getgroup("dynascope", "graph breaks and recompiles of torch.compile")
    group.addoption("--dynascope-fail-on", metavar="KIND,…", help="Fail tests on graph-break, recompile, failure, …")
    group.addoption("--dynascope-baseline", metavar="FILE", help="Problems that are known, and do not fail a test.")
    group.addoption(
        "--dynascope-update", action="store_true", help="Write the problems of all tests into the baseline."
    )
    group.addoption(
        "--dynascope-report", action="store_true", help="Record all of it, as `dynascope run` does, for the report."
    )
    parser.addini("dynascope_fail_on", "The default of --dynascope-fail-on.")
    parser.addini("dynascope_baseline", "The default of --dynascope-baseline.")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark, and add the plugin proper."""
    config.addinivalue_line(
        "markers",
        "dynascope(graph_breaks, recompiles, failures=0, skipped, graphs, compiles, reset=True): "
        "fail if the test compiles more than that, or nothing.",
    )
    config.pluginmanager.register(Checks(config), "dynascope-checks")


@pytest.fixture
def dynascope_trace() -> Generator[Recording]:
    """Record what the test compiles: see `dynascope.Recording`."""
    import dynascope

    with dynascope.record() as trace:
        yield trace


class Checks:
    """Check each test that is asked for, and sum up at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._fail_on = config.getoption("dynascope_fail_on") or config.getini("dynascope_fail_on")
        path = config.getoption("dynascope_baseline") or config.getini("dynascope_baseline")
        self._baseline = config.rootpath / path if path else None
        self._is_update = bool(config.getoption("dynascope_update"))
        if self._is_update and self._baseline is None:
            raise pytest.UsageError("--dynascope-update needs --dynascope-baseline FILE.")
        self._read_baseline()
        self._most = self._most_of_all()
        self._blocks: SuccessiveBlocks | None = None
        self._started: StartedPrograms | None = None
        self._found: dict[str, KnownProblem] = {}
        """The problems of all tests, by id."""
        self._torch_version = ""
        self._recorded = 0
        is_named = config.getoption("dynascope_report") or {"DYNASCOPE_RECORD", "DYNASCOPE_LISTEN"} & {*os.environ}
        of_main = getattr(config, "workerinput", {}).get("mainargv")
        if is_named and of_main:  # the command line of a worker of xdist says nothing
            from dynascope.agent.program import this_process

            this_process.named_by(["-m", "pytest", *of_main[1:]])
        if config.getoption("dynascope_report"):
            self._begin_report()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        """Record the test, and fail it where it compiles what it may not."""
        marks = list(item.iter_markers(_MARK))
        if not marks and self._most is None:
            return (yield)
        most = self._most
        if marks:
            most, resets = _asked(marks)
            if resets:
                _reset_dynamo()
        assert most is not None
        with self._recording() as trace, self._started_programs().recorded(trace), self._at_a_prompt(most):
            yield
        self._recorded += 1
        self._check(most, trace, must_compile=bool(marks))
        return None

    def _recording(self) -> AbstractContextManager[Recording]:
        """Return a block to record a test in; hooks stay installed where all tests are checked."""
        if self._most is None:
            import dynascope

            return dynascope.record()
        if self._blocks is None:
            from dynascope.in_process.successive import SuccessiveBlocks

            self._blocks = SuccessiveBlocks()
        return self._blocks.block()

    def _started_programs(self) -> StartedPrograms:
        if self._started is None:
            from dynascope.in_process.started_programs import StartedPrograms

            self._started = StartedPrograms()
        return self._started

    def pytest_unconfigure(self) -> None:
        """Remove the hooks, and what programs have recorded: the process may go on."""
        if self._blocks is not None:
            self._blocks.remove()
        if self._started is not None:
            self._started.remove()

    def _at_a_prompt(self, most: dict[str, int]) -> AbstractContextManager[None]:
        """Return what stops the test where it has a problem of which none is allowed, with `--pdb`."""
        if not self._config.getoption("usepdb"):
            return nullcontext()
        from dynascope.pytest_debugging import stopping

        return stopping(self._config, [kind for kind, number in most.items() if not number])

    def _check(self, most: dict[str, int], trace: Recording, must_compile: bool) -> None:
        from dynascope.in_process.recording import store_of

        store = store_of(trace)
        if store.is_empty and not must_compile:
            return  # before the modules are imported that tell problems: most tests compile nothing
        from dynascope.explain.compiles import COMPILED_BEFORE, NOTHING
        from dynascope.report.check.baseline import BaselineError
        from dynascope.report.check.outcome import Limits
        from dynascope.report.over_limits import over_limits
        from dynascope.report.sources import Sources

        limits = Limits(most, self._baseline)
        self._torch_version = store.torch_version
        with store.reading() as (reader, summary):
            if self._is_update:
                self._found |= limits.limited(summary)
                return
            try:
                outcome = limits.check(summary)
                told = [over_limits(outcome.exceeded, summary, Sources(reader), _IN_FULL)]
                told += [outcome.remark] if outcome.exceeded else []
                if outcome.is_empty and must_compile:
                    told.insert(0, f"{NOTHING.capitalize()}: {COMPILED_BEFORE}")
                text = "\n".join(filter(None, told))
            except BaselineError as error:
                text = str(error)
        if text:
            pytest.fail(text, pytrace=False)

    def _read_baseline(self) -> None:
        """End the run at once where the baseline that is to be updated cannot be read."""
        if self._is_update and self._baseline is not None and self._baseline.exists():
            from dynascope.report.check.baseline import BaselineError, read

            try:
                read(self._baseline)
            except BaselineError as error:
                raise pytest.UsageError(str(error)) from None

    def _most_of_all(self) -> dict[str, int] | None:
        if not self._fail_on:
            return None
        import click

        from dynascope.report.check.kinds import Kinds

        try:
            kinds = Kinds().convert(self._fail_on, None, None)
        except click.UsageError as error:
            raise pytest.UsageError(f"--dynascope-fail-on: {error.message}") from None
        return dict.fromkeys(kinds, 0)

    def _begin_report(self) -> None:
        """Record this process and its child processes, such as the workers of xdist."""
        from dynascope.agent.recorder import process

        os.environ.setdefault(process.RECORD_VARIABLE, "1")
        process.begin()

    # ---- the end

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take over what a worker of xdist has found."""
        from dynascope.report.check.baseline import KnownProblem

        found, version, recorded = getattr(node, "workeroutput", {}).get(_OF_WORKER, ({}, "", 0))
        self._found |= {id: KnownProblem(*row) for id, row in found.items()}
        self._torch_version = self._torch_version or version
        self._recorded += recorded

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the baseline; a worker of xdist hands what it has found to the first process."""
        output: dict[str, Any] | None = getattr(self._config, "workeroutput", None)
        if output is not None:
            rows = {id: [row.title, row.at] for id, row in self._found.items()}
            output[_OF_WORKER] = rows, self._torch_version, self._recorded
        elif self._is_update and self._recorded and self._baseline is not None:
            from dynascope.report.check import baseline

            # those of tests that have not run stay
            known = baseline.read(self._baseline).torch if self._baseline.exists() else {}
            kept = known.get(baseline.minor(self._torch_version), {})
            baseline.update(self._baseline, self._torch_version, kept | self._found)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how many tests were recorded, and where to look."""
        if not self._recorded:
            return
        from dynascope.facts.counts import counted

        terminalreporter.write_sep("-", "dynascope")
        terminalreporter.write_line(f"{counted(self._recorded, 'test')} recorded")
        for text in dict.fromkeys(self._started.errors if self._started is not None else ()):
            terminalreporter.write_line(text)
        if self._is_update:
            terminalreporter.write_line(f"Known in {self._baseline}: {counted(len(self._found), 'problem')} of these.")
        if self._config.getoption("dynascope_report"):
            terminalreporter.write_line("What was compiled: dynascope report")


def _asked(marks: Sequence[pytest.Mark]) -> tuple[dict[str, int], bool]:
    """Return the limits of a test's marks, the nearest first, and whether they reset Dynamo.

    Fails the test for wrong arguments.
    """
    from dynascope.explain.limits import BY_ARGUMENT, limits_of_arguments

    asked: dict[str, Any] = {"failures": 0, "reset": True}
    for mark in reversed(marks):
        wrong = [*map(repr, mark.args), *(name for name in mark.kwargs if name not in {*BY_ARGUMENT, "reset"})]
        if wrong:
            told = f"has no argument {', '.join(wrong)}. It has: {', '.join(BY_ARGUMENT)}, reset."
            pytest.fail(f"@pytest.mark.dynascope {told}", pytrace=False)
        asked |= mark.kwargs
    resets = bool(asked.pop("reset"))
    try:
        return limits_of_arguments(asked), resets
    except ValueError as error:
        pytest.fail(f"@pytest.mark.dynascope: {error}", pytrace=False)


def _reset_dynamo() -> None:
    """Forget what was compiled, so that it is compiled again in this test; never imports torch."""
    import sys

    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()
