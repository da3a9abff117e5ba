"""Recording leaves the program exactly as a plain run leaves it: graphs, guards, bytecode, counters, outputs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynascope.facts.in_progress import Board
from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME
from dynascope.facts.writer import Writer

from tests.support.facts.sample import new_run
from tests.support.marks import one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.observers import Everywhere, read_everything
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, OWN, Program, export_example


@contextlib.contextmanager
def recording(folder: Path, errors: list[str], written: list[int]) -> Iterator[None]:
    from dynascope.agent.recorder.recorder import Recorder

    writer = Writer(folder / FILE_NAME, new_run(folder))
    board = Board()
    board.open()
    recorder = Recorder(
        lambda facts, trails: written.append(writer.write(facts, trails)),
        writer.write_later,
        errors.append,
        board,
    )
    try:
        yield
    finally:
        recorder.remove()
        board.close()
        writer.close()


def assert_unperturbed(make: Callable[[], Program], folder: Path) -> None:
    program = make()
    run(program, contextlib.nullcontext())
    plain = run(program, contextlib.nullcontext())
    errors: list[str] = []
    written: list[int] = []
    recorded = run(program, recording(folder, errors, written))
    assert not errors, errors[0]
    assert written
    assert plain.differences(recorded) == []


@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_own_program(name: str, tmp_path: Path) -> None:
    assert_unperturbed(OWN[name], tmp_path)


@pytest.mark.parametrize("name", one_in(6, EXPORT_EXAMPLES))
def test_export_example(name: str, tmp_path: Path) -> None:
    assert_unperturbed(lambda: export_example(name), tmp_path)


def test_beside_a_debugger_that_stops_everywhere(tmp_path: Path) -> None:
    """The recorder first, then the debugger: each hears everything; when the debugger leaves, the recorder stays in."""

    def recorded(beside: contextlib.AbstractContextManager[object], folder: Path) -> list[tuple[object, ...]]:
        errors: list[str] = []
        folder.mkdir()
        with recording(folder, errors, []):
            run(OWN["graph_breaks"](), beside)
            run(OWN["graph_breaks"](), contextlib.nullcontext())
        assert not errors, errors[0]
        with Reader.open(folder / FILE_NAME) as reader:
            launch = str(reader.newest_launch())
            tensors = [(fact.line, fact.name, fact.value, fact.count) for fact in reader.facts("tensors", launch)]
            return sorted([*tensors, *((fact.line, fact.type) for fact in reader.facts("graph_breaks", launch))])

    session = Everywhere(read_everything)
    alone = recorded(contextlib.nullcontext(), tmp_path / "alone")
    assert recorded(session.inspecting(), tmp_path / "beside") == alone
    assert session.stops > 0 and alone
