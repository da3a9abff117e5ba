"""`dynascope.breakpoint()` in the program, and in the debug console."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import DapClient, RequestFailed, Stop
from tests.support.marks import line, program

pytestmark = pytest.mark.real_processes

WRITTEN = program("written.py")


def launch(folder: Path, **more: Any) -> dict[str, Any]:
    basics = {"program": str(WRITTEN), "console": "internalConsole", "redirectOutput": True, "subProcess": False}
    return basics | {"cwd": str(folder)} | more


def refused(stop: Stop, frame: int | None = None) -> str:
    """What the debug console says to one more."""
    with pytest.raises(RequestFailed) as failed:
        stop.evaluate("__import__('dynascope').breakpoint()", frame)
    return failed.value.message


@pytest.mark.matrix
def test_stops_at_compile_time_and_at_run_time(client: DapClient, tmp_path: Path) -> None:
    """Recorded, as sessions are: the recorder must not keep Dynamo from inlining the call."""
    client.launch(launch(tmp_path))
    for _ in range(2):
        stop = client.wait_for_stop()
        assert stop.where() == ("main", line(WRITTEN, "after"))
        assert "the program is stopped already" in refused(stop)
        stop.resume()
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.where() == ("compiled [0/0]", line(WRITTEN, "traced"))
    assert "the program is stopped already" in refused(stop)
    main = next(frame.id for frame in stop.frames() if frame.name == "main")
    assert "the program is stopped already" in refused(stop, main)
    stop.resume()
    assert client.wait_for_end() == 0
    assert "8.0 the end" in client.output("stdout")


@pytest.mark.matrix
def test_without_debugpy_it_says_once_that_running_code_does_not_stop(client: DapClient, tmp_path: Path) -> None:
    client.launch(launch(tmp_path, runtime=False))
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.where() == ("compiled [0/0]", line(WRITTEN, "traced"))
    place = f"{WRITTEN}:{line(WRITTEN, 'runs')}"
    told = client.output("console")
    assert told.count("does not stop here") == 1 and f"{place}: dynascope.breakpoint() does not stop here" in told
    assert "the program is stopped already" in refused(stop)
    stop.resume()
    assert client.wait_for_end() == 0
