"""Running code that Dynamo made: its frames are named after the user's, and breakpoints do not fail in it."""

from __future__ import annotations

import pytest

from tests.support.dap.client import DapClient
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

BREAKING = program("breaking_lines.py")
CONFIGURATION = {"program": str(BREAKING), "console": "internalConsole", "subProcess": False}


def test_frames_of_generated_code_are_named_after_the_users_function(client: DapClient) -> None:
    client.launch(CONFIGURATION, {BREAKING: [line(BREAKING, "told")]})
    stop = client.wait_for_stop()
    names = [frame.name for frame in stop.frames()]
    assert names == ["told", "train (generated code)", "<module>"]
    stop.resume()
    stop = client.wait_for_stop()
    frames = stop.frames()
    resumed = f"train (resume function after line {line(BREAKING, 'first')})"
    assert [frame.name for frame in frames] == ["told", resumed, "train (generated code)", "<module>"]
    rows = stop.locals(frames[1].id)
    assert not [name for name in rows if name.startswith(("tmp", "graph_out", "__"))], rows
    temporaries = stop.variables(rows["temporaries of generated code"].variables_reference)
    value = temporaries["value stack 0"]
    assert value.evaluate_name == "___stack0"
    assert stop.evaluate(value.evaluate_name, frames[1].id).result == value.value


@pytest.mark.second_leg_only
def test_a_logpoint_on_a_breaking_line_logs_each_compile_once_and_never_fails(client: DapClient) -> None:
    asked = [
        {"line": line(BREAKING, "first"), "logMessage": "loss is {loss.shape[0]}"},
        {"line": line(BREAKING, "second"), "condition": "kept.shape[0] == 9"},
    ]
    client.launch(CONFIGURATION, {BREAKING: asked})
    assert client.wait_for_end() == 0, client.transcript()
    said = client.output("console", "stdout", "stderr", "important")
    assert said.count("loss is 4") == 1 and "NameError" not in said and "not defined" not in said, said
