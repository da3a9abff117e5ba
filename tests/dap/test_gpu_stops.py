"""Long stops, questions and too little memory while a program uses a GPU, and on the CPU of every machine."""

from __future__ import annotations

import time

import pytest

from tests.support import cuda_stand_in
from tests.support.backward.gpu_table import Table
from tests.support.dap.client import DapClient, Stop
from tests.support.dap.launches import LONG, alone, launch, stop_named
from tests.support.devices import DEVICES, EXPANDABLE, place
from tests.support.marks import PROGRAMS, line

pytestmark = pytest.mark.second_leg

BUSY, MEMORY, QUESTIONS, AUTOGRAD_THREAD = (
    PROGRAMS / "gpu" / f"{name}.py" for name in ("busy", "memory", "questions", "autograd_thread")
)
HELD = {"cpu": 1, "cuda": 5 if cuda_stand_in.is_used() else 60}
"""Seconds."""


def caller(stop: Stop) -> int:
    return next(frame.id for frame in stop.frames() if frame.name == "main")


def look(stop: Stop) -> None:
    """Read every scope of the innermost frame, as a client does at each stop."""
    for scope in stop.scopes(stop.frames()[0].id).values():
        stop.variables(scope.variables_reference)


@pytest.mark.matrix
@pytest.mark.timeout(600)
@pytest.mark.parametrize("device", DEVICES)
def test_a_stop_held_for_a_minute_waits_for_no_work_of_the_gpu(client: DapClient, device: str, gpu_table: Table):
    """And the GPU works on: it does what was queued, whatever the client asks meanwhile."""
    seconds = HELD[device]
    client.launch(launch(BUSY, args=[device, str(2 * seconds)]), {BUSY: [line(BUSY, "trace")]})
    stop = stop_named(client, "forward [0/0]")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        look(stop)
        assert stop.evaluate("doubled.sum()").result == f"f32[]{place(device)}"
    if device == "cuda":
        assert stop.evaluate("done.query()", caller(stop)).result == "False", "the client waited for the GPU"
    stop.resume()
    assert client.wait_for_end(LONG) == 0
    assert client.output("stdout").splitlines() == [f"busy {device == 'cuda'}", "result [3.0, 3.0, 3.0, 3.0]"]
    gpu_table.add_session(device, f"a stop held for {seconds} seconds while the GPU is busy")


@pytest.mark.second_leg_only
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("expandable", [False, True])
def test_no_memory_is_left_at_a_stop(client: DapClient, device: str, expandable: bool, gpu_table: Table):
    """Looking needs none of the GPU's; an expression that asks for too much says so, and the program goes on."""
    client.launch(
        launch(MEMORY, args=[device], env=EXPANDABLE if expandable else {}), {MEMORY: [line(MEMORY, "trace")]}
    )
    stop = stop_named(client, "forward [0/0]")
    main = caller(stop)
    before = stop.evaluate("allocated()", main).result
    look(stop)
    # a fake tensor: no size is too large
    assert stop.evaluate("doubled.new_empty(1 << 40)").result == f"f32[1099511627776]{place(device)}"
    told = client.failure(
        "evaluate", {"expression": f"torch.empty(1 << 50, device={device!r})", "frameId": main, "context": "repl"}
    )
    assert "memory" in told
    assert stop.evaluate("allocated()", main).result == before
    stop.resume()
    assert client.wait_for_end(LONG) == 0
    output = client.output("stdout").splitlines()
    assert output[0] == ("out of memory" if device == "cuda" else "result [3.0, 3.0]")
    assert output[1:] == ["result [3.0, 3.0]", *([f"expandable {expandable}"] if device == "cuda" else [])]
    gpu_table.add_session(device, f"no memory left at a stop, segments that grow {'on' if expandable else 'off'}")


@pytest.mark.matrix
@pytest.mark.timeout(600)
@pytest.mark.parametrize("device", DEVICES)
def test_questions_that_trace_again_leave_numbers_and_random_numbers(client: DapClient, device: str, gpu_table: Table):
    expected = alone(QUESTIONS, device)
    client.launch(launch(QUESTIONS, args=[device]), {QUESTIONS: [line(QUESTIONS, "trace")]})
    stop = stop_named(client, "forward [0/0]")
    stop.resume()
    stop = stop_named(client, "forward [0/1]")
    assert stop.locals()["hidden"].value == f"f32[8, 16]{place(device)}"
    assert "x.size()[0] must be 4, and is 8" in stop.evaluate("why").result
    assert "Symbols: 1" in stop.evaluate("what if x.shape[0] dynamic").result
    stop = stop.step("stepBack")
    assert "hidden" not in stop.locals()
    stop = stop.step("next")
    assert stop.locals()["hidden"].value == f"f32[8, 16]{place(device)}"
    assert stop.evaluate("guards 0/0").result
    assert stop.evaluate("torch.rand(3, device=x.device) + hidden.mean()").result == f"f32[3]{place(device)}"
    stop.resume()
    assert client.wait_for_end(LONG) == 0
    assert client.output("stdout") == expected
    gpu_table.add_session(device, "why, what if, a step back: numbers and random numbers are those without a debugger")


@pytest.mark.second_leg_only
@pytest.mark.parametrize("device", DEVICES)
def test_stops_on_the_thread_on_which_autograd_works_for_the_device(client: DapClient, device: str, gpu_table: Table):
    """At run time, then while Dynamo traces, then at run time again; on a GPU that thread is one of C++."""
    program = AUTOGRAD_THREAD
    expected = alone(program, device)
    assert f"on the main thread {device == 'cpu'}" in expected
    client.launch(launch(program, args=[device]), {program: [line(program, "call"), line(program, "trace")]})
    stop = stop_named(client, "backward")
    assert stop.where()[1] == line(program, "call") and not stop.at_compile_time
    thread = stop.thread_id
    stop = stop.step("stepIn")
    assert stop.at_compile_time and stop.thread_id == thread, [frame.name for frame in stop.frames()]
    assert stop.where()[0] == "clipped [0/0]"
    stop.resume()
    stop = stop_named(client, "clipped [0/0]")
    assert stop.locals()["bounded"].value == f"f32[3]{place(device)}" and stop.thread_id == thread
    assert stop.evaluate("bounded.sum()").result == f"f32[]{place(device)}"
    assert [frame.name for frame in stop.frames()][1] == "backward"
    stop = stop.step("stepOut")
    assert not stop.at_compile_time and stop.where() == ("backward", line(program, "return"))
    stop.resume()
    stop = stop_named(client, "backward")
    assert stop.where()[1] == line(program, "call")
    stop.resume()
    assert client.wait_for_end(LONG) == 0
    assert client.output("stdout") == expected
    gpu_table.add_session(device, "stops on the thread on which autograd works for the device")
