"""`python -m tests.bench [--device cuda] [--pairs N] [--steps N] [NAME…]`: print every benchmark, or those named."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version

import click
from rich.console import Console

from tests.bench import attach, big_views, compile_time, first_stop, guards, history, step_back, stop_latency

NAMES = ["compile-time", "stop-latency", "big-views", "first-stop", "attach", "step-back", "history", "guards"]


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(NAMES))
@click.option("--pairs", default=5, show_default=True, help="Pairs of plain and attached runs.")
@click.option("--steps", default=150, show_default=True, help="Steps over one function with 200 locals.")
@click.option(
    "--session", "sessions", multiple=True, type=click.Choice(list(compile_time.SESSIONS)), help="Only these sessions."
)
@click.option("--device", default="cpu", show_default=True, help="Where compile-time and stop-latency run.")
def main(names: tuple[str, ...], pairs: int, steps: int, sessions: tuple[str, ...], device: str) -> None:
    """Print ratios and latencies; nothing is asserted."""
    console = Console(width=120)
    console.print(f"torch {version('torch')}, Python {platform.python_version()}, debugpy {version('debugpy')}")
    if not names or "stop-latency" in names:
        console.print(stop_latency.measure(steps, device))
    if not names or "first-stop" in names:
        console.print(first_stop.measure())
    if not names or "attach" in names:
        console.print(attach.measure())
    if not names or "big-views" in names:
        console.print(big_views.measure())
    in_lines: dict[str, Callable[[], Iterator[str]]] = {
        "step-back": step_back.measure,
        "history": lambda: history.measure(pairs),
        "guards": guards.measure,
        "compile-time": lambda: compile_time.measure(pairs, sessions or list(compile_time.SESSIONS), device),
    }
    for name, lines in in_lines.items():
        for line in lines() if not names or name in names else ():
            console.print(line, markup=False)


if __name__ == "__main__":
    main()
