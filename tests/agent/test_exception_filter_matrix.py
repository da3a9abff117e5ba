"""Every exception filter of the compiler at every place where it can stop; run on every supported torch."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.agent.scripted_session import ScriptedSession, Stop
from tests.support.marks import one_in
from tests.support.matrix.places import NAMES, Place, places

BREAK = "torch._dynamo.graph_break()"
FIXES_A_SIZE = "int({0}.shape[0]) == 3 or {0}.sin()"


def stops(filter_id: str, place: Place, run: Callable[[], Any]) -> list[Stop]:
    session = ScriptedSession()
    assert session.catch(filter_id).verified
    with session.attached():
        run()
    assert all(stop.message.reason == "exception" and stop.message.exception for stop in session.stops)
    return session.stops


@pytest.mark.parametrize("name", one_in(4, NAMES))
def test_graph_break(name: str, tmp_path: Path) -> None:
    place = places(tmp_path, BREAK)[name]
    found = stops("graphBreak", place, place.run)
    here = [stop for stop in found if stop.where == f"{place.frame}:{place.line}"]
    assert len(here) == 1
    assert here[0].message.exception.exception_id == "graph break GB0025"  # type: ignore[union-attr]
    assert here[0].locals["i"] == "0"


@pytest.mark.parametrize("name", one_in(4, NAMES))
def test_codegen(name: str, tmp_path: Path) -> None:
    place = places(tmp_path, BREAK)[name]
    found = stops("codegen", place, place.run)
    for stop in found:
        told = stop.message.exception.description  # type: ignore[union-attr]
        assert re.match(r"The graph ends (at the return|at a graph break|at a jump|here)", told)
        assert "?" not in told.partition("Outputs of the graph: ")[2].partition("\n")[0]


@pytest.mark.parametrize("name", one_in(4, NAMES))
def test_specialization(name: str, tmp_path: Path) -> None:
    place = places(tmp_path, FIXES_A_SIZE, dynamic=True)[name]
    found = stops("specialization", place, place.run)
    # the captured graph of a backward fixes sizes in lines of its own, too
    here = [stop.where for stop in found if stop.frames[0].line == place.line or name != "compiled_autograd"]
    assert here == [f"{place.frame}:{place.line}"]


@pytest.mark.parametrize("name", one_in(4, NAMES))
def test_recompile(name: str, tmp_path: Path) -> None:
    place = places(tmp_path, dynamic=False)[name]

    def run() -> None:
        place.run(3)
        place.run(3, 4)

    found = stops("recompile", place, run)
    assert all("mismatch" in stop.message.exception.description for stop in found)  # type: ignore[union-attr]
    if name != "compiled_autograd":  # whose captures are compiled by functions of their own
        assert found


@pytest.mark.parametrize("name", one_in(4, NAMES))
def test_backend_failure(name: str, tmp_path: Path) -> None:
    def fails(graph: Any, inputs: Any) -> Any:
        raise ValueError("not today")

    place = places(tmp_path, backend=fails)[name]

    def run() -> None:
        with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
            place.run()

    assert len(stops("backendFailure", place, run)) == 1


@pytest.mark.parametrize("name", one_in(4, NAMES))
def test_recompile_limit(name: str, tmp_path: Path) -> None:
    place = places(tmp_path, dynamic=False)[name]

    def run() -> None:
        with torch._dynamo.config.patch(recompile_limit=1, accumulated_recompile_limit=1):
            place.run(3)
            place.run(3, 4)

    found = stops("recompileLimit", place, run)
    if name == "compiled_autograd":  # whose captures are compiled by functions of their own: each has one compile
        assert not found
        return
    assert [stop.frames[0].name.partition(" ")[2] for stop in found] == ["[not compiled]"]
    assert "mismatch" in found[0].message.exception.description  # type: ignore[union-attr]
    assert found[0].locals["x"] == "f32[3, 4]"


@pytest.mark.parametrize("name", one_in(4, NAMES))
def test_skipped_frame(name: str, tmp_path: Path) -> None:
    place = places(tmp_path, BREAK)[name]
    first = stops("skippedFrame", place, place.run)[0]
    if name == "generator":  # a break in one gives up what consumes it
        assert "consumes" in first.frames[0].name
    else:
        assert (first.frames[0].name.partition(" ")[0], first.frames[0].line) == (place.function, place.line)
        assert first.locals["i"] == "0"
    assert "Not compiled: " in first.message.exception.description  # type: ignore[union-attr]
    assert "gb0025" in first.message.exception.description  # type: ignore[union-attr]
