"""Stops in compiles that no compiled function begins: strict exports and `aot_compile`."""

from __future__ import annotations

import pytest

from tests.support.dap.client import DapClient
from tests.support.dap.launches import launch
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

EXPORTED = program("exported.py")


@WITH_AND_WITHOUT_DEBUGPY
@pytest.mark.parametrize(("how", "caller"), [("export", "exports"), ("aot_compile", "compiles_ahead")])
def test_the_running_frames_are_below_the_traced_one(client: DapClient, how: str, caller: str, runtime: bool) -> None:
    client.launch(launch(EXPORTED, args=[how], runtime=runtime), {EXPORTED: [line(EXPORTED, "traced")]})
    stop = client.wait_for_stop()
    names = [frame.name for frame in stop.frames()]
    assert names[0].startswith("Doubled.forward [") and names[-2:] == [caller, "<module>"]
    assert next(frame for frame in stop.frames() if frame.name == caller).line == line(EXPORTED, f"after_{how}") - 1


@pytest.mark.second_leg_only
@pytest.mark.parametrize("how", ["export", "aot_compile"])
def test_step_out_ends_in_the_caller(client: DapClient, how: str) -> None:
    client.launch(launch(EXPORTED, args=[how]), {EXPORTED: [line(EXPORTED, "traced")]})
    stop = client.wait_for_stop().step("stepOut")
    assert (stop.at_compile_time, stop.where()[1]) == (False, line(EXPORTED, f"after_{how}"))
    stop.resume()
    assert client.wait_for_end() == 0
