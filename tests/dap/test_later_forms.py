"""What AOTAutograd made of a graph: in Loaded Scripts, and asked for in the debug console."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from dynascope.wire.dap import Source

from tests.support.dap.client import DapClient
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

FORMS = program("forms.py")


@pytest.mark.second_leg_only
@WITH_AND_WITHOUT_DEBUGPY
def test_forms_are_listed_and_asked_for(client: DapClient, runtime: bool) -> None:
    arguments = {"program": str(FORMS), "console": "internalConsole", "subProcess": False, "runtime": runtime}
    client.launch(arguments, {FORMS: [line(FORMS, "after")]})
    stop = client.wait_for_stop()
    frame = stop.frames()[0].id

    def ask(question: str, **more: Any) -> str:
        result: str = client.request("evaluate", {"expression": question, "context": "repl"} | more)["result"]
        return result

    names = {source.name for source in msgspec.convert(client.request("loadedSources")["sources"], list[Source])}
    assert "first [0/0] inference graph" in names
    told = [event["body"] for event in client.events if event["event"] == "loadedSource"]
    assert "first [0/0] inference graph" in {each["source"]["name"] for each in told if each["reason"] == "new"}
    made = line(FORMS, "made")
    for more in ({}, {"frameId": frame}):
        assert "\nfirst [0/0] inference graph: by AOTAutograd" in ask("forms all", **more)
        assert "first [0/0] inference graph\n" in ask(f"forms from {FORMS}:{made}", **more)
    assert "sin = torch.ops.aten.sin.default(" in ask(f"forms from forms.py:{made}").partition("inference graph")[2]
    assert f"# File: {FORMS}:{made} in first, code: return x.sin() + 1" in ask("forms 0/0 inference")
    assert "[7/7]" in client.failure("evaluate", {"expression": "forms 7/7", "context": "repl"})
    assert ask("forms", frameId=frame) == ask("forms all")
    stop.resume()
    assert client.wait_for_end() == 0
