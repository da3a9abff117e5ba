"""No question hangs at a stop, whatever of the program torch calls while it traces, and wherever breakpoints are."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.dap.client import DapClient, RequestFailed, Stop
from tests.support.dap.launches import launch
from tests.support.marks import labels, line, program

pytestmark = pytest.mark.second_leg

CALLBACKS = program("callbacks.py")
CASES = re.findall(r"@case\ndef (\w+)", CALLBACKS.read_text())
FEW = ["fake_kernel", "torch_dispatch", "allow_in_graph", "nonstrict_trace"]
LONGEST = 5.0
"""Seconds within which each question is answered."""
IN_CALLBACKS = sorted(number for label, number in labels(CALLBACKS).items() if label.startswith("in_"))
BREAKPOINTS = [
    *IN_CALLBACKS,
    {"line": line(CALLBACKS, "conditional"), "condition": "ask(y) is None"},
    {"line": line(CALLBACKS, "logged"), "logMessage": "asked {ask(y)}"},
    line(CALLBACKS, "here"),
]


class Asked:
    """What was asked in one session, and what was seen there."""

    def __init__(self, client: DapClient, debugs_dynamo: bool) -> None:
        self.client = client
        self.debugs_dynamo = debugs_dynamo
        self.has_jumped = False
        self.stopped_in: set[str] = set()
        """The callbacks in which breakpoints have stopped while a function was compiled or ran compiled."""
        self.asked_in: list[str] = []
        """The functions at whose compiles questions were asked."""
        self.answers: dict[tuple[str, str], str] = {}
        """By the function that is compiled, and the question."""

    def ask_until_done(self) -> None:
        """Ask at each stop of a second compile; the program ends well."""
        while (event := self.client.wait_for_event("stopped", "terminated"))["event"] == "stopped":
            self._at(Stop(self.client, event["body"])).resume()

    def _at(self, stop: Stop) -> Stop:
        """Ask all questions where it is time to; return the stop to go on from."""
        frames = stop.frames()
        inner, caller = (frame.name for frame in frames[:2])
        if stop.where() == ("compile_case", line(CALLBACKS, "done")):
            if not self.has_jumped:
                return self._jump(stop)
        elif not stop.at_compile_time:
            if ("compile_case", line(CALLBACKS, "compiles")) in [(frame.name, frame.line) for frame in frames]:
                self.stopped_in.add(inner)
        elif frames[0].line == line(CALLBACKS, "here") and "[0/0]" not in inner:
            return self._ask(stop, caller.partition(" ")[0])
        return stop

    def _jump(self, stop: Stop) -> Stop:
        """Jump at run time to where the case begins, so that all of it is compiled again.

        Before, evaluate an expression that compiles: no breakpoint stops a thread that is stopped.
        """
        self.has_jumped = True
        with self._in_time("an expression that compiles"):
            assert stop.evaluate("torch.compile(allow_in_graph, backend='eager')(torch.ones(5), 1).sum()").result
        target = {"source": {"path": str(CALLBACKS)}, "line": line(CALLBACKS, "begins")}
        [place] = self.client.request("gotoTargets", target)["targets"]
        self.client.request("goto", {"threadId": stop.thread_id, "targetId": place["id"]})
        stop = self.client.wait_for_stop()
        assert stop.where() == ("compile_case", line(CALLBACKS, "begins"))
        return stop

    def _ask(self, stop: Stop, case: str) -> Stop:
        if stop.where()[0].endswith(" [0/1]"):  # not what follows a graph break
            self.asked_in.append(case)
        inner, caller = stop.frames()[:2]
        for question, ask in self._questions(stop, inner.id, caller.id):
            with self._in_time(case, question):
                try:
                    self.answers[case, question] = ask()
                except RequestFailed as failed:
                    self.answers[case, question] = f"failed: {failed.message}"
        self.client.request("stepBack", {"threadId": stop.thread_id})
        return self._gone_back(case)

    @contextlib.contextmanager
    def _in_time(self, *what: str) -> Iterator[None]:
        """Want the body to end in time, but for what other processes of a busy machine take from the program."""
        began = time.monotonic() - self._without_cpu()
        yield
        took = time.monotonic() - self._without_cpu() - began
        assert took < LONGEST, (*what, took)

    def _without_cpu(self) -> float:
        """Return the seconds for which the program's main thread has been ready to run and had no CPU."""
        [process] = [event["body"]["systemProcessId"] for event in self.client.events if event["event"] == "process"]
        scheduled = Path(f"/proc/{process}/schedstat")
        return int(scheduled.read_text().split()[1]) / 1e9 if scheduled.exists() else 0.0

    def _questions(self, stop: Stop, inner: int, caller: int) -> Iterator[tuple[str, Callable[[], str]]]:
        def evaluated(question: str, frame: int) -> Callable[[], str]:
            return lambda: stop.evaluate(question, frame).result

        for question in ("why", "guards check", "ask(y)", "(y * 2).sum()"):
            yield question, evaluated(question, inner)
        tried = [("what if graph break", inner), ("what if k dynamic", caller), ("what if k = 5", caller)]
        for question, frame in tried:
            yield question, evaluated(question, frame)
            yield f"{question} again", evaluated(question, frame)  # where not all can be undone, only now is it tried
        yield "history", lambda: self._history(stop, inner)

    def _history(self, stop: Stop, frame: int) -> str:
        below = stop.variables(stop.locals(frame)["y"].variables_reference)
        return below["history"].value

    def _gone_back(self, case: str) -> Stop:
        with self._in_time(case, "stepBack"):
            stop = self.client.wait_for_stop()
        while self.debugs_dynamo and not stop.at_compile_time:  # pydevd then traces what is traced again
            stop.resume()
            stop = self.client.wait_for_stop()
        assert stop.at_compile_time, f"{case}: going back stopped in {stop.where()}"
        self.answers[case, "stepBack"] = stop.where()[0]
        return stop


def ask_about(client: DapClient, *cases: str, debugs_dynamo: bool = False) -> Asked:
    """Ask everything at the stops of these cases, and look through the answers."""
    asked = Asked(client, debugs_dynamo)
    settings = {"args": cases, "record": False, "debugDynamo": debugs_dynamo}
    client.launch(launch(CALLBACKS, **settings), {CALLBACKS: [*BREAKPOINTS, line(CALLBACKS, "done")]})
    asked.ask_until_done()
    assert re.findall(r"(\w+) done", client.output("stdout")) == list(cases), client.output("stderr")
    assert "Traceback" not in client.output("stderr")
    for case in asked.asked_in:
        answers = asked.answers
        assert "this guard fails" in answers[case, "guards check"], case
        assert "is compiled again" in answers[case, "why"], case
        assert answers[case, "what if graph break again"].startswith("Graph break"), case
        assert "Nothing is changed." in answers[case, "what if k = 5 again"], case
        assert answers[case, "stepBack"].endswith(" [0/1]"), case
        assert re.match(r".*\w\.py:\d+", answers[case, "history"]), case
    return asked


@pytest.mark.second_leg_only
def test_every_question_is_answered_at_stops_where_dynamo_calls_the_program(client: DapClient) -> None:
    asked = ask_about(client, *FEW)
    assert asked.asked_in == [FEW[0], *FEW]
    assert {"_", "__torch_dispatch__", "allowed", "nonstrict"} <= asked.stopped_in
    assert "asked f32[4]" in client.output("console")


@pytest.mark.matrix
def test_every_question_is_answered_whatever_torch_calls(client: DapClient) -> None:
    asked = ask_about(client, *CASES)
    assert len(set(asked.asked_in)) >= 32, asked.asked_in


@pytest.mark.matrix
def test_every_question_is_answered_with_debug_dynamo(client: DapClient) -> None:
    asked = ask_about(client, *FEW, debugs_dynamo=True)
    assert asked.asked_in == [FEW[0], *FEW]
