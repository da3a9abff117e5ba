"""The history of values: as recorded, next to what looking at everything after each of Dynamo's steps gives."""

from __future__ import annotations

import contextlib
import gc
import linecache
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import types
import weakref

import torch
from dynascope.agent.inspection.values.history_rows import HistoryEntry
from dynascope.agent.internals.frames import translators
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.history.frame_history import FrameHistory
from dynascope.agent.tracing.stop_check import StopCheck
from dynascope.agent.tracing.thread_state import ThreadState

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.agent.slow_history import SlowHistory
from tests.support.marks import one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, OWN, Program, export_example

pytestmark = pytest.mark.second_leg


class Comparison:
    """At the last instruction of each call: the recorded history of all that the frame shows, and the slow one."""

    every_instruction = True

    def __init__(self, slow: SlowHistory) -> None:
        self.compared = 0
        self.differences: list[tuple[str, Any, Any]] = []
        self._slow = slow

    def may_stop_in(self, code: types.CodeType) -> bool:
        return True

    def stops_at(self, state: ThreadState, activation: Activation) -> None:
        translator = activation.translator
        if translators.instruction(translator).opname not in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE"):
            return
        compile_state = state.begin_compile()
        writer = compile_state.tape_writer
        assert writer is not None
        writer.until_now()
        history = FrameHistory(writer, translator, compile_state.checkpoints)
        for name, variable in list(translator.symbolic_locals.items()):
            made, changed = _parts(history.of_name(name, variable))
            self._compare(f"{translator.f_code.co_name}: {name}", (made, changed), self._slow.of_name(translator, name))
        for guard, line in self._slow.guards_kept():
            lines = [(entry.path, entry.line) for entry in history.of_guard(guard.name, guard.create_fn_name())]
            self._compare(f"guard {guard.name}", line in lines, True)
        for symbol, lines in self._slow.symbols.items():
            recorded = {(entry.path, entry.line) for entry in history.of_symbol(symbol)}
            self._compare(f"symbol {symbol}", recorded, set(lines))

    def _compare(self, what: str, recorded: Any, truth: Any) -> None:
        self.compared += 1
        if recorded != truth:
            self.differences.append((what, recorded, truth))


def _parts(entries: list[HistoryEntry]) -> tuple[Counter[tuple[tuple[str, int], str]], set[tuple[str, int]]]:
    made = Counter(((e.path, e.line), e.what) for e in entries if e.what in ("made", "input", "deleted"))
    return made, {(e.path, e.line) for e in entries if e.what == "changed"} - {place for place, _ in made}


class Written:
    """How much of a history has been written."""

    every_instruction = True
    segments = 0

    def may_stop_in(self, code: types.CodeType) -> bool:
        return True

    def stops_at(self, state: ThreadState, activation: Activation) -> None:
        writer = state.begin_compile().tape_writer
        assert writer is not None
        self.segments = len(writer.tape.segments)


@contextlib.contextmanager
def watched(check: StopCheck) -> Iterator[None]:
    session = ScriptedSession()
    with session.attached():
        hook = session.agent.session.hook
        assert hook is not None
        hook.add_check(check)
        yield


@contextlib.contextmanager
def compared() -> Iterator[Comparison]:
    slow = SlowHistory()
    with watched(comparison := Comparison(slow)), slow.watching():
        yield comparison


def compare(program: Program) -> int:
    with compared() as comparison:
        run(program, contextlib.nullcontext())
    assert comparison.differences == []
    return comparison.compared


@pytest.mark.parametrize("name", one_in(6, EXPORT_EXAMPLES))
def test_export_example(name: str) -> None:
    compare(export_example(name))


def test_code_without_source_beside_a_program_of_the_same_file_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13 keeps the text of `python -c`, whose file name is that of a named tuple's code, too."""
    monkeypatch.setitem(linecache.cache, "<string>", (0, None, ["one = lambda: 1\n"], "<string>"))
    compare(OWN["changing_containers"]())


@pytest.mark.second_leg_only
def test_own_programs() -> None:
    assert sum(compare(OWN[name]()) for name in sorted(OWN)) > 100


def test_what_the_program_drops_is_freed_without_garbage_collection() -> None:
    """As without a history; torch drops its code for a function with the function."""

    def applied(x: torch.Tensor, change: Any) -> torch.Tensor:
        return change(x) * 2

    gc.disable()
    try:
        with watched(written := Written()):
            change = eval("lambda x: x + 1")
            freed = weakref.ref(change)
            torch.compile(applied, backend="eager")(torch.ones(3), change)
            del change
            assert written.segments and freed() is None
    finally:
        gc.enable()


class Writes(torch.nn.Module):
    """Changes tensors in ways that name another one, or none."""

    def forward(self, x):
        y = torch.zeros(6)
        torch.add(x, 1, out=y)
        z = x.clone()
        torch._foreach_add_([z, y], 2)
        k = z
        z += y
        base = x.clone()
        view = base[1:3]
        view.mul_(5)
        later, apart = base[2:], base[:1]
        torch.relu_(later)
        return y + k + base + apart


class Told:
    """What became of each local, with its line, at the end of the function."""

    every_instruction = True

    def __init__(self) -> None:
        self.rows: dict[str, list[tuple[str, int]]] = {}

    def may_stop_in(self, code: types.CodeType) -> bool:
        return code is Writes.forward.__code__

    def stops_at(self, state: ThreadState, activation: Activation) -> None:
        translator, compile_state = activation.translator, state.begin_compile()
        if (
            translators.instruction(translator).opname != "RETURN_VALUE"
            or translator.f_code is not Writes.forward.__code__
        ):
            return
        writer = compile_state.tape_writer
        assert writer is not None
        writer.until_now()
        history = FrameHistory(writer, translator, compile_state.checkpoints)
        for name, variable in list(translator.symbolic_locals.items()):
            rows = [each for each in history.of_name(name, variable) or () if each.what in ("made", "changed")]
            self.rows[name] = [(each.what, each.line - translator.f_code.co_firstlineno) for each in rows]


def test_what_is_written_into_the_memory_of_a_tensor_changes_it() -> None:
    with watched(told := Told()):
        torch.compile(Writes(), backend="eager")(torch.arange(6.0))
    assert {name: rows for name, rows in told.rows.items() if name not in ("self", "x")} == {
        "y": [("made", 1), ("changed", 2), ("changed", 4)],
        "z": [("made", 3), ("changed", 4), ("changed", 6)],
        "k": [("made", 3), ("changed", 4), ("changed", 6)],
        "base": [("made", 7), ("changed", 9), ("changed", 11)],
        "view": [("made", 8), ("changed", 9), ("changed", 11)],
        "later": [("made", 10), ("changed", 11)],
        "apart": [("made", 10)],
    }
