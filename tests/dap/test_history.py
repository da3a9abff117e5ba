"""The row `history` below variables, by a client; and sessions without it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dynascope.wire.dap import Variable

from tests.support.dap.client import DapClient, RequestFailed, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

COMPILED = program("compiled.py")


def at(label: str) -> int:
    return line(COMPILED, label)


def below(stop: Stop, name: str) -> list[str]:
    return list(stop.variables(stop.locals()[name].variables_reference))


@WITH_AND_WITHOUT_DEBUGPY
def test_a_history_leads_to_the_line_in_the_function_that_made_the_value(client: DapClient, runtime: bool) -> None:
    arguments = {"program": str(COMPILED), "console": "internalConsole", "subProcess": False, "runtime": runtime}
    client.launch(arguments, {COMPILED: [at("after")]})
    stop = client.wait_for_stop()
    history = stop.variables(stop.locals()["b"].variables_reference)["history"]
    assert history.value == f"compiled.py:{at('helper') + 1}"
    (row,) = stop.variables(history.variables_reference).values()
    assert row.value == "made f32[2, 3]"
    place = client.request("locations", {"locationReference": row.value_location_reference})
    assert (place["source"]["path"], place["line"]) == (str(COMPILED), at("helper") + 1)
    client.request("goto", {"threadId": stop.thread_id, "targetId": row.target_id})
    stop = client.wait_for_stop()
    assert (stop.reason, stop.where()) == ("goto", ("helper [0/0]", at("helper") + 1))


def test_an_input_says_where_it_comes_from(client: DapClient) -> None:
    arguments = {"program": str(COMPILED), "console": "internalConsole", "subProcess": False}
    client.launch(arguments, {COMPILED: [at("after")]})
    stop = client.wait_for_stop()
    width = stop.variables(stop.locals()["width"].variables_reference)["history"]
    assert [row.value for row in stop.variables(width.variables_reference).values()] == ["input width: 4"]


UNNAMED = """import torch


def twice(v):
    return v * 2


def function(x):
    rows = [twice(v) for v in (x, x)]
    by = {}
    by.setdefault("k", []).append(x)
    other = by["k"]
    other[0] = x + 1
    other.append(x)
    return sum(rows) + sum(other)


torch.compile(function, backend="eager")(torch.ones(3))
"""


def test_a_value_is_told_as_it_was_before_it_had_a_name(client: DapClient, tmp_path: Path) -> None:
    path = tmp_path / "unnamed.py"
    path.write_text(UNNAMED)
    client.launch({"program": str(path), "console": "internalConsole", "subProcess": False}, {path: [15]})
    stop = client.wait_for_stop()
    history = {name: history_of(stop, name) for name in ("rows", "other")}
    assert history["rows"] == ["made", "changed [f32[3]]", "changed [f32[3], f32[3]]"]
    assert history["other"] == ["made [f32[3]]", "changed [f32[3]]", "changed [f32[3], f32[3]]"]


FIXED = """import torch


def function(x):
    if x.shape[0] > 4:
        x = x * 2
    y = x.shape[0] * 2
    if y == 6:
        x = x + 1
    return x


compiled = torch.compile(function, backend="eager", dynamic=True)
compiled(torch.ones(3, 2))
compiled(torch.ones(4, 2))
"""


def test_a_size_is_told_from_its_symbol_to_its_number(client: DapClient, tmp_path: Path) -> None:
    path = tmp_path / "fixed.py"
    path.write_text(FIXED)
    client.launch({"program": str(path), "console": "internalConsole", "subProcess": False}, {path: [10]})
    stop = client.wait_for_stop()
    symbols = stop.variables(stop.scopes()["Shapes"].variables_reference)
    symbol = next(row for row in symbols.values() if "size()[0]" in row.value)
    below = stop.variables(symbol.variables_reference)["history"]
    rows = stop.variables(below.variables_reference).items()
    assert [(name.partition(" ")[0], re.sub(r"\bs\d+", "s0", row.value)) for name, row in rows] == [
        ("fixed.py:5", "s0 made for L['x'].size()[0]: 3"),
        ("fixed.py:5", "s0 guarded by s0 <= 4"),
        ("fixed.py:5", "s0 in [2, 4]"),
        ("fixed.py:8", "s0 guarded by 2*s0 == 6"),
        ("fixed.py:8", "s0 specialised to 3"),
    ]
    stop.resume()
    stop = client.wait_for_stop()
    assert "x.size()[0] must be 3, and is 4 (fixed.py:8 needs this)" in stop.evaluate("why").result
    events = client.request("dynascopeTimeline", {"count": 100})["events"]
    again = next(event for event in events if event["kind"] == "recompile")
    client.request("goto", {"threadId": stop.thread_id, "targetId": again["targetId"]})
    assert client.wait_for_stop().where() == ("function [0/0 past]", 8)


def history_of(stop: Stop, name: str) -> list[str]:
    below = stop.variables(stop.locals()[name].variables_reference)["history"]
    return [row.value for row in stop.variables(below.variables_reference).values()]


def test_a_session_can_do_without_histories(client: DapClient) -> None:
    arguments = {"program": str(COMPILED), "console": "internalConsole", "subProcess": False, "history": False}
    client.launch(arguments, {COMPILED: [at("after")]})
    stop = client.wait_for_stop()
    assert "history" not in below(stop, "b")
    with pytest.raises(RequestFailed, match="No history of this compile is kept"):
        stop.evaluate("ctx.history('b')")


def test_changes_since_the_previous_stop_a_line_and_a_checkpoint(client: DapClient) -> None:
    arguments = {"program": str(COMPILED), "console": "internalConsole", "subProcess": False}
    client.launch(arguments, {COMPILED: [at("helper"), at("after")]})
    stop = client.wait_for_stop()
    assert list(changes(stop)) == ["since this line began"]
    assert "`changes here`" in stop.evaluate("checkpoint here").result
    client.request("continue", {"threadId": stop.thread_id})
    stop = client.wait_for_stop()
    told = changes(stop)
    assert list(told) == ["since the previous stop", "since this line began", "since checkpoint here"]
    since = told["since the previous stop"]
    assert (
        since.value.startswith(f"compiled.py:{at('helper')}: ") and since.value == told["since checkpoint here"].value
    )
    rows = [row.value for row in stop.variables(since.variables_reference).values()]
    assert "name b = f32[2, 3]" in rows and [row for row in rows if row.startswith("node %")], rows
    assert told["since this line began"].value == f"compiled.py:{at('after')}: nothing"
    goes = next(row for row in stop.variables(since.variables_reference).values() if row.value.startswith("node"))
    client.request("goto", {"threadId": stop.thread_id, "targetId": goes.target_id})
    stop = client.wait_for_stop()
    assert changes(stop)["since the previous stop"].value == "that stop is ahead: you have gone back: nothing"


def changes(stop: Stop) -> dict[str, Variable]:
    return stop.variables(stop.scopes()["Changes"].variables_reference)
