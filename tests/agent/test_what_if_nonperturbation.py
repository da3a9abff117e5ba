"""The law, with changes tried at every stop: without `keep`, a compile leaves what a plain run leaves."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable

import pytest

pytest.importorskip("torch")

from dynascope.agent.events.wrapping import is_unobserved
from dynascope.agent.program.interruption import Cancelled
from dynascope.agent.speculation import trial
from dynascope.wire.dap import EvaluateResult
from dynascope.wire.to_agent import Evaluate

from tests.support.marks import one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.observers import Everywhere
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, MODELS, OWN, Program, export_example

QUESTIONS = (
    "what if {} dynamic",
    "what if graph break",
    "what if {} static",
    "what if {} = 3",
    "what if config.assume_static_by_default = False",
    "why?",
)


class Asker(Everywhere):
    """Asks one question at each of the first `stops` stops of a program, then lets it compile on."""

    def __init__(self, stops: int) -> None:
        super().__init__(Asker.ask_next)
        self.tried = 0
        self._left = stops
        self._questions = itertools.cycle(QUESTIONS)

    def ask_next(self) -> None:
        if not self._left:
            return
        self._left -= 1
        hook = self.agent.session.hook
        names = hook.threads.current().outermost.f_code.co_varnames if hook is not None else ()
        question = next(self._questions).format(names[0] if names else "x")
        request = Evaluate(id=9, thread_ident=threading.get_ident(), frame_id=self.frames[-1].id, expression=question)
        self.tried += self.ask(request, EvaluateResult) is not None


def tries(make: Callable[[], Program], stops: int) -> int:
    """Compile the program and ask; return how many changes were tried."""
    program = make()
    run(program, contextlib.nullcontext())  # warms caches
    plain = run(program, contextlib.nullcontext())
    asker = Asker(stops)
    differences = plain.differences(run(program, asker.inspecting()))
    assert not asker.complaints, asker.complaints[:3]
    assert differences == []
    return asker.tried


@pytest.mark.parametrize("name", one_in(6, EXPORT_EXAMPLES))
def test_export_example(name: str) -> None:
    tries(lambda: export_example(name), 10)


@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_own_program(name: str) -> None:
    assert tries(OWN[name], 25)


@pytest.mark.parametrize("error", [Cancelled, KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_a_question_that_is_cancelled(name: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, note_line = itertools.count(1), trial.note_line

    def cancel_now_and_then(translator: object, line: int) -> None:
        note_line(translator, line)
        if is_unobserved() and next(numbers) % 9 == 0:
            raise error

    monkeypatch.setattr(trial, "note_line", cancel_now_and_then)
    tries(OWN[name], 10)
    assert next(numbers) > 9


@pytest.mark.matrix
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", sorted(MODELS)[:2])
def test_transformers_model(name: str) -> None:
    pytest.importorskip("transformers")
    assert tries(MODELS[name], 4)
