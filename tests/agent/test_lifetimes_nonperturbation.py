"""The law, in cold processes: a program observed in any way prints, compiles and uses what it does in a plain run."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

from tests.support.nonperturbation.cold import COLLECTIONS, Run, Seen, Server, programs
from tests.support.nonperturbation.modes import MODES

TORCH = tuple(map(int, importlib.metadata.version("torch").split(".")[:2]))
SAMPLE = (
    (("weak_references", "program_guard_on_a_weak_reference"), ("recorded", "recorded block", "stopped")),
    (("extensions", "program_operator_that_flattens"), ("back", "what if")),
    (("python_features", "program_func_transforms"), ("back",)),
)
_MEMORY = 0.01
"""The part by which the peak of memory may differ where tensors are big."""
_GARBAGE_IN_CYCLES = (
    "program_garbage_in_cycles_without_a_collection",
    "program_gc_callbacks",
    "program_cached_property_and_slots",
    "program_step_with_inductor",
    "program_speculation_that_restarts",  # torch leaves its frames in a cycle, with this threshold alone
)
"""Programs that leave garbage in cycles to whichever collection comes next.

With a threshold of 1, there is a collection each time that a container is made: of a call's arguments, too, which a
wrapper of a torch function cannot hide.
"""


_GARBAGE_OF_TORCH = ("program_speculation_that_restarts",)
"""Programs of which torch, from 2.14 on, leaves the frames of a compile in a cycle, and what they hold.

Torch's own collection moves them to the oldest generation, where they stay to the end of a plain run. After `what if`
they are younger then, and freed at once.
"""


def cases() -> list[Any]:
    """Return file, program and setting of the garbage collector, with the marks of the legs that have them.

    Inductor compiles for a minute or more with another setting than "on": one in three of its programs is enough.
    """
    found = []
    with_inductor = [each for each in programs() if each[1].endswith("inductor")]
    left_out = set(with_inductor) - set(with_inductor[::3])
    for file, program in programs():
        for collections in COLLECTIONS:
            is_on = collections == "on"
            if not is_on and (file, program) in left_out:
                continue
            marks = [] if is_on else [pytest.mark.main_leg]
            if collections == "threshold 1" and program in _GARBAGE_IN_CYCLES:
                marks.append(
                    pytest.mark.xfail(reason="each call of a Python function can bring the collection forward")
                )
            found.append(pytest.param(file, program, collections, marks=marks))
    return found


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


def differences(server: Server, plain: Seen, run: Run) -> dict[str, tuple[str, str]]:
    """Return what differs from the plain run, with the first line of each, plain and observed."""
    seen = server.run(run)
    found = plain.differences(seen)
    if run.file == "big_tensors" and abs(seen.peak - plain.peak) > _MEMORY * plain.peak:
        found["peak"] = f"{plain.peak} KiB", f"{seen.peak} KiB"
    return found


def test_sample(server: Server) -> None:
    """All in one test: each process of pytest that runs one of this module needs a server."""
    for program, modes in SAMPLE:
        plain = server.run(Run(*program, "plain", "on"))
        assert plain.status == 0 and plain.output and plain.compiled["guards"], plain.errors
        for mode in modes:
            assert differences(server, plain, Run(*program, mode, "on")) == {}


@pytest.mark.matrix
def test_a_forked_process_is_as_cold_as_a_new_one(server: Server) -> None:
    run = Run(*SAMPLE[1][0], "plain", "on")
    assert server.run(run).differences(server.run_in_new_process(run)) == {}


@pytest.mark.matrix
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("file", "program", "collections"), cases(), ids=lambda value: value.removeprefix("program_"))
def test_program(server: Server, file: str, program: str, collections: str) -> None:
    plain = server.run(Run(file, program, "plain", collections))
    if program.endswith("inductor"):
        plain = server.run(
            Run(file, program, "plain", collections)
        )  # what the first has put into torch's caches counts
    assert plain.status == 0, plain.errors
    frees_earlier = program in _GARBAGE_OF_TORCH and TORCH >= (2, 14) and collections != "off"
    modes = [mode for mode in MODES if not (frees_earlier and mode == "what if")]
    found = {mode: differences(server, plain, Run(file, program, mode, collections)) for mode in modes}
    assert {mode: differs for mode, differs in found.items() if differs} == {}
