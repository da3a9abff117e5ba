"""The guards of compiled code: which fails for the values in a frame, and what each costs, at compile and run time."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from dynascope.wire.dap import Source

from tests.support.dap.client import DapClient
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

GUARDED = program("guarded.py")
LAUNCH: dict[str, Any] = {"program": str(GUARDED), "console": "internalConsole", "subProcess": False}
LOOKUP = re.compile(r"A lookup takes [\d.]+ [nµ]s")


def ask(client: DapClient, question: str, frame_id: int) -> str:
    wanted = {"expression": question, "frameId": frame_id, "context": "repl"}
    result: str = client.request("evaluate", wanted)["result"]
    return result


@pytest.mark.second_leg_only
def test_where_the_program_runs(client: DapClient) -> None:
    client.launch(LAUNCH, {GUARDED: [line(GUARDED, "uncompiled")]})
    client.wait_for_stop().resume()
    client.wait_for_stop().resume()
    stop = client.wait_for_stop()
    running = next(frame.id for frame in stop.frames() if frame.name.startswith("guarded"))
    used, other = ask(client, "guards check", running).splitlines()  # the one used last comes first
    assert re.fullmatch(r"guarded \[0/1\]: all \d+ guards are true", used)
    assert other.startswith("guarded [0/0]: this guard fails, after ") and "L['x']" in other
    costs = ask(client, "guards 0/1", running)
    assert costs.startswith("guarded [0/1] guards: ") and LOOKUP.search(costs)
    assert re.search(r"\d ns +\| \+- GuardManager: source=L\['x'\]", costs)
    documents = msgspec.convert(client.request("loadedSources")["sources"], list[Source])
    references = {source.name: source.source_reference for source in documents}
    kept = client.request("source", {"sourceReference": references["guarded [0/1] guards"]})["content"]
    assert kept == f"{costs}\n"
    unmeasured = client.request("source", {"sourceReference": references["guarded [0/0] guards"]})["content"]
    assert "type `guards 0/0`" in unmeasured and "TENSOR_MATCH" in unmeasured
    told = ask(client, "guards filters 0/1", running)
    assert told.startswith("guarded [0/1]: what is left of its guards") and "keep_tensor_guards_unsafe" in told
    assert "filters are tried where all guards are true" in ask(client, "guards filters 0/0", running)
    assert "nothing_such is no filter here" in ask(client, "guards filters 0/1 nothing_such", running)
    assert "With the filter call: TypeError: " in ask(client, "guards filters 0/1 call", running)
    told = ask(client, "guards saved", running)
    assert told.startswith("guarded [0/1]: what torch would save of its guards") and "\naot_compile and caching" in told
    assert "\nx must keep its type, dtype, " in ask(client, "guards saved 0/1 aot_compile", running)
    assert "saving is tried where all guards are true" in ask(client, "guards saved 0/0", running)
    assert "export is no way to save guards" in ask(client, "guards saved 0/1 export", running)
    assert "has no compiled code" in ask(client, "guards check", stop.frames()[0].id)
    assert "it has: 0/1, 0/0" in ask(client, "guards 9/9", running)
    stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_while_it_is_compiled_again(client: DapClient, runtime: bool) -> None:
    client.launch(LAUNCH | {"runtime": runtime}, {GUARDED: [line(GUARDED, "traced")]})
    stop = client.wait_for_stop()
    wanted = {"expression": "guards check", "frameId": stop.frames()[0].id, "context": "repl"}
    assert "guarded has no compiled code" in client.failure("evaluate", wanted)
    while not stop.frames()[0].name.endswith("[0/1]"):  # debugpy stops on this line too
        stop.resume()
        stop = client.wait_for_stop()
    told = ask(client, "guards check", stop.frames()[0].id)
    assert told.startswith("guarded [0/0]: this guard fails, after ") and "expected 3, actual 4" in told
    assert "No costs: for the values in this frame this guard fails" in ask(client, "guards 0/0", stop.frames()[0].id)
    assert "where all guards are true" in ask(client, "guards filters", stop.frames()[0].id)
    assert "where all guards are true" in ask(client, "guards saved", stop.frames()[0].id)
    client.request("setBreakpoints", {"source": {"path": str(GUARDED)}, "breakpoints": []})
    stop.resume()
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_why_it_is_compiled_again(client: DapClient, runtime: bool) -> None:
    client.launch(LAUNCH | {"runtime": runtime}, {GUARDED: [line(GUARDED, "traced")]})
    stop = client.wait_for_stop()
    assert ask(client, "why", stop.frames()[0].id) == "This is the first compile of guarded."
    while not stop.frames()[0].name.endswith("[0/1]"):  # debugpy stops on this line too
        stop.resume()
        stop = client.wait_for_stop()
    told = stop.evaluate("why")
    rows = stop.variables(told.variables_reference)
    assert rows["0/0"].value.startswith("x.size()[0] must be 3, and is 4 (guarded.py:")
    assert rows["0/0"].declaration_location_reference, "a client can go to the line that needs the guard"
    used = "because `torch._dynamo.config.automatic_dynamic_shapes` is False, as with `dynamic=False`."
    assert rows["this compile"].value == f"the guard is still there, {used}"
    assert rows["tried"].value.endswith("and the guard is gone.")
    if runtime:
        wanted = {"expression": "why?", "frameId": stop.frames()[-1].id, "context": "repl"}
        assert "while Dynamo compiles" in client.failure("evaluate", wanted)
    client.request("setBreakpoints", {"source": {"path": str(GUARDED)}, "breakpoints": []})
    stop.resume()
    assert client.wait_for_end() == 0
