"""Recorded lines of attempts that have ended, next to what was to be seen live when each of those lines began."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import types

from dynascope.agent.inspection.inspection import Inspection
from dynascope.agent.internals.frames import translators
from dynascope.agent.program.user_code import is_user_code, real_path
from dynascope.agent.tape.playback import Playback
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.wire.to_agent import Scopes, Variables

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, OWN, Program, export_example

pytestmark = pytest.mark.second_leg

View = tuple[list[tuple[str, int]], dict[str, str], int, int]
"""The stack, the locals of the innermost frame, and how many guards and nodes there are."""


class Witness:
    """Look at every line that begins, as a stop there shows it."""

    every_instruction = False

    def __init__(self) -> None:
        self.attempts: list[list[tuple[int, View]]] = []
        """Of each attempt: the position of each line, and what was seen."""
        self._trail: Any = None
        self._latest: dict[int, int | None] = {}
        """The latest line of each frame."""

    def may_stop_in(self, code: types.CodeType) -> bool:
        return is_user_code(real_path(code.co_filename))

    def stops_at(self, state: ThreadState, activation: Activation) -> None:
        compile_state = state.begin_compile()
        if compile_state.clock.traced is not self._trail:
            self._trail = compile_state.clock.traced
            self.attempts.append([])
            self._latest.clear()
        latest, self._latest[id(activation)] = self._latest.get(id(activation)), activation.line
        if activation.line in (activation.code.co_firstlineno, latest):
            return  # a function of one line, or a loop, is recorded once, where it begins
        stack = translators.active_translators(activation.translator)[::-1]
        stack = stack[stack.index(activation.translator) :]
        inspection = Inspection(stack, iter(range(1, 1 << 30)))
        scopes = inspection.scopes(Scopes(frame_id=inspection.frames[0].id)).scopes
        page = inspection.variables(Variables(id=0, thread_ident=0, variables_reference=scopes[0].variables_reference))
        rows = {row.name: row.value for row in page.variables if row.value}
        places = [(frame.name.partition(" ")[0], frame.line) for frame in inspection.frames]
        output = translators.output_of(activation.translator)
        view = places, rows, len(output.guards.inner), len(output.graph.nodes)
        self.attempts[-1].append((self._trail.position, view))


@contextlib.contextmanager
def witnessed() -> Iterator[tuple[Witness, ScriptedSession]]:
    session, witness = ScriptedSession(), Witness()
    with session.attached():
        hook = session.agent.session.hook
        assert hook is not None
        hook.add_check(witness)
        yield witness, session


def views(attempt: Playback) -> dict[int, View]:
    found = {}
    for line in attempt.lines:
        places = [(attempt.code(frame).name, number) for frame, number in attempt.stack(line)]
        free = attempt.code(line.frame).free
        names = {name: text for name, text in attempt.names(line, line.frame).items() if name not in free}
        found[attempt.position(line)] = places, names, len(attempt.guards(line)), len(attempt.nodes(line))
    return found


def compare(program: Program) -> int:
    with witnessed() as (witness, session):
        run(program, contextlib.nullcontext())
        hook = session.agent.session.hook
        assert hook is not None
        recorded = list(map(views, hook.histories.ended))
    seen = [lines for lines in witness.attempts if lines]
    differences, compared = [], 0
    assert len(recorded) >= len(seen)
    for lines in seen:
        best = min(recorded, key=lambda views: sum(views.get(at, ("",))[0] != view[0] for at, view in lines))
        differences += [(best.get(position), view) for position, view in lines if best.get(position) != view]
        compared += len(lines)
    assert differences == []
    return compared


@pytest.mark.parametrize("name", one_in(6, EXPORT_EXAMPLES))
def test_export_example(name: str) -> None:
    compare(export_example(name))


def test_own_programs() -> None:
    assert sum(compare(OWN[name]()) for name in sorted(OWN)) > 50
