"""The commands of the debug console, by a client: help, completions, near misses, and variables of their names."""

from __future__ import annotations

from typing import Any

from dynascope import console

from tests.support.dap.client import DapClient
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

COMPILED = program("compiled.py")


@WITH_AND_WITHOUT_DEBUGPY
def test_commands_are_listed_completed_and_suggested(client: DapClient, runtime: bool) -> None:
    arguments = {"program": str(COMPILED), "console": "internalConsole", "subProcess": False, "runtime": runtime}
    client.launch(arguments, {COMPILED: [line(COMPILED, "after")]})
    stop = client.wait_for_stop()
    symbolic, running = stop.frames()[0].id, stop.frames()[-1].id

    def wanted(text: str, frame: int) -> dict[str, Any]:
        return {"expression": text, "context": "repl", "frameId": frame}

    def labels(text: str, frame: int) -> list[str]:
        asked = {"text": text, "column": len(text) + 1, "frameId": frame}
        return [target["label"] for target in client.request("completions", asked)["targets"]]

    names = [entry.name for entry in console.all_commands()]
    for frame in (symbolic, running):
        listed = client.request("evaluate", wanted("help", frame))["result"]
        assert [row for row in listed.splitlines() if row.startswith(tuple(names))][-1].startswith("why ")
        assert set(names) <= set(labels("", frame)) and "guards" in labels("gua", frame)
        assert "filters" in labels("guards fi", frame) and "keep" in labels("what if k", frame)
        assert "did you mean the command `history`?" in client.failure("evaluate", wanted("histroy b", frame))
        assert "; did you mean the command `changes`?" in client.failure("evaluate", wanted("change", frame))
        assert "`guards saved 0/1`" in client.request("evaluate", wanted("help guards", frame))["result"]
    assert "did you mean the command `what if`?" in client.failure("evaluate", wanted("help waht", symbolic))
    assert "did you mean" not in client.failure("evaluate", wanted("xyzzy", symbolic))
    assert "did you mean" not in client.failure("evaluate", wanted("chance / 0", symbolic))
    assert client.request("evaluate", {"expression": "help", "context": "repl"})["result"].endswith("as Python.")

    told = stop.evaluate("history b")
    assert told.result == f"1 line, compiled.py:{line(COMPILED, 'helper') + 1}"
    assert [row.value for row in stop.variables(told.variables_reference).values()] == ["made f32[2, 3]"]
    assert "There is no `nothing` below `Shapes`." in client.failure(
        "evaluate", wanted("history Shapes/nothing", symbolic)
    )
    assert "The history of what?" in client.failure("evaluate", wanted("history", symbolic))
    told = stop.evaluate("changes line")
    assert told.result == f"since this line began, compiled.py:{line(COMPILED, 'after')}: nothing"
    assert "Nothing has stopped before" in client.failure("evaluate", wanted("changes", symbolic))
    told = stop.evaluate("guards")
    guards = stop.variables(told.variables_reference)
    assert "GRAD_MODE" in stop.variables(stop.evaluate("guards grad").variables_reference)  # below `state of torch`
    tensors = stop.variables(stop.evaluate("guards tensor_match").variables_reference)
    assert set(tensors) < set(guards) and tensors["x"].value.startswith("f32[2, 3]  TENSOR_MATCH at ")
    assert client.failure("evaluate", wanted("guards zzz", symbolic)) == "No guard so far contains `zzz`."
    for command in ("history x", "changes?", "checkpoint here", "what if"):
        assert client.failure("evaluate", wanted(command, running)), command
    for command in ("history", "changes"):
        assert "NameError" not in client.failure("evaluate", wanted(command, running)), command
    assert "Nothing has been compiled" in client.failure("evaluate", wanted("forms", running))
    assert stop.evaluate("guards = 3").result == "" and stop.evaluate("guards").result == "3"
    assert stop.evaluate("guards?").result == "guards so far"
