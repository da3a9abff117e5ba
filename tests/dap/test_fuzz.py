"""Random requests: each is answered as the schema wants it, and the program prints what it prints alone."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.support.dap.client import DapClient, Disconnected, Message, Pending, Stop
from tests.support.dap.fuzz import RESUMING, Known, Requests
from tests.support.dap.launches import alone, launch
from tests.support.marks import line, program

FUZZED = program("fuzzed.py")
LINES = [line(FUZZED, mark) for mark in ("called", "begins", "calls", "runs")]


class Fuzzing(DapClient):
    """A client whose requests need not be as the schema wants them."""

    def _validate(self, sender: str, message: Message) -> None:
        if sender == "adapter":
            super()._validate(sender, message)


class Session:
    """One run of the program under random requests."""

    def __init__(self, client: DapClient, seed: int) -> None:
        self.client, self.known = client, Known()
        self.requests = Requests(seed, FUZZED, self.known)
        self._stream = iter(self.requests)
        self._is_over = False
        client.launch(launch(FUZZED, record=False), {FUZZED: LINES})

    def run(self, count: int) -> int:
        """Send so many requests, or fewer if the program ends; return how many."""
        sent, choose = 0, self.requests.random
        while sent < count and (stop := self._next_stop()) is not None:
            self._look(stop)
            size = choose.randrange(5, 60)
            batch = [self._send(*request) for request in itertools.islice(self._stream, size)]
            for request in batch:
                request.response()
            sent += size
            self.client.set_breakpoints(FUZZED, *LINES)  # what was sent may have replaced them
            if not self._send(choose.choice(RESUMING), {"threadId": stop.thread_id}).response()["success"]:
                self.client.request("continue", {"threadId": stop.thread_id})
        return sent

    def end(self) -> str:
        """Let the program end, and return what it has printed."""
        stop = None if self._is_over else self._next_stop()
        if stop is not None:
            for kind in ("Function", "Data", "Instruction"):
                self.client.request(f"set{kind}Breakpoints", {"breakpoints": []})
            self.client.request("setExceptionBreakpoints", {"filters": []})
            self.client.set_breakpoints(FUZZED)
        while stop is not None:
            self.client.request("continue", {"threadId": stop.thread_id})
            stop = self._next_stop()
        return self.client.output("stdout")

    def _send(self, command: str, arguments: Any) -> Pending:
        request = self.client.send(command, arguments)
        self.known.requests.append(request.seq)
        return request

    def _next_stop(self) -> Stop | None:
        event = self.client.wait_for_event("stopped", "terminated")
        self._is_over = event["event"] == "terminated"
        return Stop(self.client, event["body"]) if event["event"] == "stopped" else None

    def _look(self, stop: Stop) -> None:
        self.known.threads.append(stop.thread_id)
        frames = stop.frames(0, 4)
        self.known.frames += [frame.id for frame in frames]
        self.known.variables += [scope.variables_reference for scope in stop.scopes(frames[0].id).values()]


def check(seeds: range, count: int) -> None:
    plain, sent = alone(FUZZED), 0
    for seed in itertools.cycle(seeds):
        with Fuzzing.spawn() as client:
            session = Session(client, seed)
            try:
                sent += session.run(min(count - sent, 2500))
                assert session.end() == plain, client.transcript()
            except (Disconnected, TimeoutError) as error:
                raise AssertionError(f"seed {seed}: {error}") from error
        if sent >= count:
            return


def test_every_request_is_answered_and_the_program_is_left_alone() -> None:
    check(range(1, 2), 1_000)


@pytest.mark.matrix
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("part", range(10))
def test_a_hundred_thousand_requests(part: int) -> None:
    check(range(100 + 4 * part, 104 + 4 * part), 10_000)
