"""Run a program recorded, as a child process, and check what it compiled once it has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import click

from dynascope.explain.compiles import NOTHING
from dynascope.facts import store
from dynascope.facts.launches import LAUNCH_VARIABLE, new_launch
from dynascope.report.check import baseline
from dynascope.report.check.baseline import BaselineError
from dynascope.report.check.formats import as_text
from dynascope.report.check.outcome import Limits
from dynascope.report.sources import Sources, opened
from dynascope.report.summary import summarize

_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_CHECK_FAILED = 1


def run_and_check(command: Sequence[str], limits: Limits) -> int:
    """Run a command that records; return its exit code, or 1 where only the check fails.

    A signal that ends the program ends this process, too. Raises OSError where the command cannot be started.
    """
    try:
        if limits.baseline is not None:
            baseline.read(limits.baseline)
    except BaselineError as error:  # before the program runs, perhaps for hours
        raise click.UsageError(str(error)) from None
    launch = os.environ[LAUNCH_VARIABLE] = new_launch()
    with subprocess.Popen(command, close_fds=False) as program, _signals_forwarded_to(program):
        code = program.wait()
    if code < 0:
        _end_by(-code)
    return code or _check(launch, limits)


def _check(launch: str, limits: Limits) -> int:
    """Print the outcome on stderr: stdout is the program's."""
    if not store.facts_path().exists():
        return _nothing_compiled()
    with opened(None, None) as reader:
        if launch not in {run.launch for run in reader.runs()}:
            return _nothing_compiled()
        outcome = limits.check(summarize(reader, launch))
        click.echo(as_text(outcome, Sources(reader)), err=True)
        return 0 if outcome.passes else _CHECK_FAILED


def _nothing_compiled() -> int:
    click.echo(f"check failed: {NOTHING}", err=True)
    return _CHECK_FAILED


@contextmanager
def _signals_forwarded_to(program: subprocess.Popen[bytes]) -> Iterator[None]:
    """Forward signals that come to this process alone.

    A terminal sends the signals of its keys to both.
    """

    def forward(number: int, frame: FrameType | None) -> None:
        if not (number in (signal.SIGINT, signal.SIGQUIT) and _is_in_foreground()):
            program.send_signal(number)

    numbers = [getattr(signal, name) for name in _FORWARDED if hasattr(signal, name)]
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_in_foreground() -> bool:
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):  # no terminal
        return False


def _end_by(number: int) -> None:
    """End this process by the signal that ended the program, as a shell expects."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
