"""The compiler's exception filters, beside debugpy's: conditions, stops, explanations, switching while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

BREAKING = program("breaking.py")


def start(client: DapClient, runtime: bool, *filters: dict[str, Any]) -> list[dict[str, Any]]:
    """Launch with these `filterOptions`; what became of them."""
    placed: list[dict[str, Any]] = []
    configuration = {"program": str(BREAKING), "console": "internalConsole", "subProcess": False, "runtime": runtime}
    client.launch(
        configuration | {"redirectOutput": True},
        before_running=lambda: placed.extend(catch(client, *filters)),
    )
    return placed


def catch(client: DapClient, *filters: dict[str, Any]) -> list[dict[str, Any]]:
    answer = client.request("setExceptionBreakpoints", {"filters": [], "filterOptions": list(filters)})
    placed: list[dict[str, Any]] = answer["breakpoints"]
    return placed


def information(stop: Stop) -> dict[str, Any]:
    return stop.client.request("exceptionInfo", {"threadId": stop.thread_id})


@pytest.mark.capability("supportsExceptionInfoRequest")
@WITH_AND_WITHOUT_DEBUGPY
def test_a_graph_break_stops_with_the_stack_that_caused_it(client: DapClient, runtime: bool) -> None:
    placed = start(client, runtime, {"filterId": "graphBreak"})
    assert placed[0]["verified"]
    stop = client.wait_for_stop()
    assert stop.reason == "exception" and stop.description == "Paused on graph break"
    assert stop.body["text"] == "Graph break: Call to `torch._dynamo.graph_break()`"
    assert stop.hit_breakpoint_ids == [placed[0]["id"]]
    rows = [(frame.name, frame.line) for frame in stop.symbolic_frames()]
    assert rows[:2] == [("inner [0/0]", line(BREAKING, "break")), ("outer [0/0]", line(BREAKING, "call"))]
    assert stop.frames()[2].name == "<module>"
    assert stop.locals()["z"].value == "f32[3]"
    assert stop.locals(stop.frames()[1].id)["x"].value == "f32[3]"
    assert stop.evaluate("z.shape[0]").result == "3"
    told = information(stop)
    assert told["exceptionId"] == "graph break GB0025" and told["breakMode"] == "unhandled"
    assert "Hint: Remove the `torch._dynamo.graph_break()` call." in told["description"]
    assert "https://" in told["description"]
    assert told["details"]["typeName"] == "Unsupported"
    assert told["details"]["fullTypeName"] == "torch._dynamo.exc.Unsupported"
    assert "in inner\n" in told["details"]["stackTrace"] and "in <module>\n" in told["details"]["stackTrace"]
    stop.resume()


@WITH_AND_WITHOUT_DEBUGPY
def test_every_filter_stops_and_can_be_switched_at_a_stop(client: DapClient, runtime: bool) -> None:
    start(client, runtime, {"filterId": "recompile"})
    stop = client.wait_for_stop()
    assert stop.where() == ("outer [0/1]", line(BREAKING, "call"))
    assert "rank mismatch" in information(stop)["description"] and "f32[2, 3]" in information(stop)["description"]
    assert information(stop)["exceptionId"] == "recompile"
    assert all(each["verified"] for each in catch(client, {"filterId": "skippedFrame"}))
    stop.resume()
    stop = client.wait_for_stop()
    assert stop.where()[0].startswith("never_compiled [")
    assert "No ops traced" in information(stop)["description"]
    catch(client, {"filterId": "backendFailure"})
    stop.resume()
    stop = client.wait_for_stop()
    assert information(stop)["exceptionId"] == "ValueError"
    assert information(stop)["details"]["innerException"][0]["message"] == "no such backend today"
    assert "Graph" in stop.scopes()
    catch(client)
    stop.resume()
    assert client.wait_for_end() == 0


@WITH_AND_WITHOUT_DEBUGPY
def test_codegen_stops_where_a_graph_ends_with_a_scope_of_its_own(client: DapClient, runtime: bool) -> None:
    place = f"breaking.py:{line(BREAKING, 'break')}"
    start(client, runtime, {"filterId": "codegen", "condition": f"GB0025, {place}, z.ndim == 2"})
    stop = client.wait_for_stop()
    assert stop.reason == "exception" and stop.description == "Paused on code generation"
    assert stop.where()[1] == line(BREAKING, "break")
    told = information(stop)
    assert told["exceptionId"] == "codegen" and told["breakMode"] == "always"
    assert "Restored: " in told["description"] and "z = graph_out_0[0]" in told["description"]
    names = list(stop.scopes())
    assert names[names.index("Codegen") - 1 :][:3] == ["Graph", "Codegen", "Compile"]
    rows = stop.variables(stop.scopes()["Codegen"].variables_reference)
    assert rows["outputs"].value == "1"
    stop.resume("next")
    stop = client.wait_for_stop()
    assert stop.where()[1] == line(BREAKING, "break") + 1 and "Codegen" not in stop.scopes()
    catch(client)
    stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.capability("supportsExceptionFilterOptions")
@WITH_AND_WITHOUT_DEBUGPY
def test_a_condition_narrows_a_filter_down(client: DapClient, runtime: bool) -> None:
    place = f"breaking.py:{line(BREAKING, 'call')}"  # a caller's line will do: not where `inner` is compiled by itself
    start(client, runtime, {"filterId": "graphBreak", "condition": f"GB0025, {place}, x.ndim == 2"})
    stop = client.wait_for_stop()
    assert stop.where() == ("inner [0/1]", line(BREAKING, "break"))
    stop.resume()
    assert client.wait_for_end() == 0


def test_conditions_that_mean_nothing_say_so(client: DapClient) -> None:
    placed = start(
        client,
        True,
        {"filterId": "graphBreak", "condition": "our code"},
        {"filterId": "recompile", "condition": "GB0025"},
        {"filterId": "raised", "condition": "x > 1"},
        {"filterId": "nothing"},
        {"filterId": "graphBreak", "condition": "GB9999"},
        {"filterId": "uncaught"},
    )
    assert [each["verified"] for each in placed] == [False, False, False, False, True, True]
    assert "neither a term" in placed[0]["message"]
    assert "ids are of graph breaks" in placed[1]["message"]
    assert "debugpy takes no condition" in placed[2]["message"]
    assert "no exception filter" in placed[3]["message"]
    assert client.wait_for_end() == 0


def test_debugpys_filters_work_beside_the_compilers(client: DapClient) -> None:
    start(client, True, {"filterId": "raised"}, {"filterId": "recompile"})
    stop = client.wait_for_stop()
    assert stop.reason == "exception" and information(stop)["exceptionId"] == "recompile"
    stop.resume()
    stop = client.wait_for_stop()
    while "KeyError" not in information(stop)["exceptionId"]:
        stop.resume()
        stop = client.wait_for_stop()
    assert not stop.symbolic_frames()
    stop.resume()


def test_without_debugpy_its_filters_say_so(client: DapClient) -> None:
    placed = start(client, False, {"filterId": "raised"})
    assert not placed[0]["verified"] and "debugpy" in placed[0]["message"]
    assert client.wait_for_end() == 0


@WITH_AND_WITHOUT_DEBUGPY
def test_filters_outlive_a_restart(client: DapClient, runtime: bool) -> None:
    start(client, runtime, {"filterId": "graphBreak"})
    first = client.wait_for_stop()
    client.request("restart")
    again = client.wait_for_stop()
    assert again.where() == ("inner [0/0]", line(BREAKING, "break"))
    assert again.hit_breakpoint_ids == first.hit_breakpoint_ids


@WITH_AND_WITHOUT_DEBUGPY
def test_a_step_over_a_graph_break_goes_on_behind_it(client: DapClient, runtime: bool) -> None:
    start(client, runtime, {"filterId": "graphBreak", "condition": "x.ndim == 1"})
    stop = client.wait_for_stop()
    assert stop.where() == ("inner [0/0]", line(BREAKING, "break"))
    catch(client)
    after = stop.step("stepOut")
    assert after.where() == ("outer [3/0]", line(BREAKING, "call") + 1)


@WITH_AND_WITHOUT_DEBUGPY
def test_a_configuration_switches_filters_on(client: DapClient, runtime: bool) -> None:
    wanted = [{"filterId": "graphBreak", "condition": f"{BREAKING}:{line(BREAKING, 'call')}"}]
    configuration = {"program": str(BREAKING), "console": "internalConsole", "subProcess": False, "runtime": runtime}
    client.launch(configuration | {"exceptionFilters": wanted})
    stop = client.wait_for_stop()
    assert stop.where() == ("inner [0/0]", line(BREAKING, "break"))
    stop.resume()
    assert client.wait_for_stop().where() == ("inner [0/1]", line(BREAKING, "break"))


VIOLATING = """\
import torch


def f(x):
    if x.shape[0] > 5:
        return x + 1
    return x


x = torch.ones(8)
torch._dynamo.mark_dynamic(x, 0, min=3, max=100)
torch.compile(f, backend="eager")(x)
"""


@WITH_AND_WITHOUT_DEBUGPY
def test_a_constraint_violation_has_dynamos_message_and_the_users_line(
    client: DapClient, tmp_path: Path, runtime: bool
) -> None:
    path = tmp_path / "program.py"
    path.write_text(VIOLATING)
    configuration = {"program": str(path), "console": "internalConsole", "subProcess": False, "runtime": runtime}
    client.launch(configuration, before_running=lambda: catch(client, {"filterId": "specialization"}))
    stop = client.wait_for_stop()
    assert stop.frames()[0].name == "f [0/0]" and stop.scopes(stop.frames()[0].id)
    told = information(stop)
    assert told["exceptionId"] == "constraint violation" and told["breakMode"] == "unhandled"
    assert "Not all values of" in told["description"] and "(program.py:5)" in told["description"]
    assert told["details"]["typeName"] == "ConstraintViolationError"
    assert "line 5, in f" in told["details"]["stackTrace"]
    catch(client)
    stop.resume()
    assert client.wait_for_end() == 1
