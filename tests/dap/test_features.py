"""What a user does at and around stops, beyond the opening. Every capability that is declared is used."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tests.support.dap.client import DapClient
from tests.support.dap.launches import COMPILED, launch
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import line, program

pytestmark = pytest.mark.second_leg

LLAMA = program("llama.py")


@pytest.mark.second_leg_only
@pytest.mark.capability("supportsConditionalBreakpoints")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_conditional_breakpoints(client: DapClient, runtime: bool) -> None:
    helper = line(COMPILED, "helper")
    client.launch(launch(runtime=runtime), {COMPILED: [{"line": helper, "condition": "q.shape[0] == 99"}]})
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
@pytest.mark.capability("supportsHitConditionalBreakpoints")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_hit_conditional_breakpoints(client: DapClient, runtime: bool) -> None:
    helper = line(COMPILED, "helper")
    client.launch(launch(runtime=runtime), {COMPILED: [{"line": helper, "hitCondition": "2"}]})
    assert client.wait_for_end() == 0


@pytest.mark.second_leg_only
@pytest.mark.capability("supportsLogPoints")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_log_points(client: DapClient, runtime: bool) -> None:
    helper = line(COMPILED, "helper")
    client.launch(launch(runtime=runtime), {COMPILED: [{"line": helper, "logMessage": "shape {q.shape}"}]})
    assert client.wait_for_end() == 0
    assert "shape torch.Size([2, 3])" in client.output("console", "stdout")


def test_log_messages_have_not_the_colour_of_warnings_in_vs_code(client: DapClient) -> None:
    logged = {"line": line(COMPILED, "helper"), "logMessage": "shape {q.shape}"}
    client.launch(launch(runtime=False), {COMPILED: [logged]}, initialize={"clientID": "vscode"})
    client.request("dynascopeSay", {"text": "said by the extension"})
    assert client.wait_for_end() == 0
    shown = client.output("explanation")
    assert "shape torch.Size([2, 3])" in shown and "said by the extension\n" in shown


@pytest.mark.capability("supportsFunctionBreakpoints")
@WITH_AND_WITHOUT_DEBUGPY
def test_supports_function_breakpoints(client: DapClient, runtime: bool) -> None:
    client.launch(launch(runtime=runtime), functions=["helper" if runtime else "sessions.compiled.helper"])
    stop = client.wait_for_stop()
    assert stop.at_compile_time and stop.reason == "function breakpoint"
    assert stop.where() == ("helper [0/0]", line(COMPILED, "helper"))


@pytest.mark.parametrize("name", ["caller", "sessions.compiled.caller"])
def test_function_breakpoints_of_the_running_program(client: DapClient, name: str) -> None:
    client.launch(launch(), functions=[name])
    stop = client.wait_for_stop()
    assert not stop.at_compile_time and stop.where()[0] == "caller"


def test_function_breakpoints_are_verified_once_there_is_such_a_function(client: DapClient) -> None:
    client.launch(launch(), {COMPILED: [line(COMPILED, "start")]})
    stop = client.wait_for_stop()
    wanted = [{"name": "nobody"}, {"name": "caller"}]
    nobody, caller = client.request("setFunctionBreakpoints", {"breakpoints": wanted})["breakpoints"]
    for placed in (nobody, caller):
        assert not placed["verified"] and placed["message"].startswith("No function of that name is known yet")
    stop.resume()
    changed = client.wait_for_event("breakpoint", where=lambda body: body["breakpoint"]["id"] == caller["id"])
    assert changed["body"]["breakpoint"]["verified"] and "message" not in changed["body"]["breakpoint"]
    assert client.wait_for_stop().hit_breakpoint_ids == [caller["id"]]


@WITH_AND_WITHOUT_DEBUGPY
def test_a_breakpoint_where_nothing_is_never_stops_and_says_why(
    client: DapClient, runtime: bool, tmp_path: Path
) -> None:
    file = tmp_path / "short.py"
    file.write_text("one = 1\ntwo = 2\n")
    gone = tmp_path / "gone.py"
    placed = client.launch(launch(file, runtime=runtime), {file: [50], gone: [3]})
    assert not placed[file][0].verified and "no code" in (placed[file][0].message or "")
    assert not placed[gone][0].verified and placed[gone][0].message == f"no such file: {gone}"
    assert client.wait_for_end() == 0


@pytest.mark.capability("supportsEvaluateForHovers")
def test_supports_evaluate_for_hovers(client: DapClient) -> None:
    client.launch(launch(), {COMPILED: [line(COMPILED, "helper")]})
    stop = client.wait_for_stop()
    assert stop.evaluate("q", context="hover").result == "f32[2, 3]"
    assert stop.evaluate("q", context="watch").variables_reference > 0
    assert "ComptimeContext" in stop.evaluate("ctx").result
    assert "nobody" in client.failure(
        "evaluate", {"expression": "nobody", "frameId": stop.frames()[0].id, "context": "watch"}
    )


@pytest.mark.capability("supportsClipboardContext")
def test_supports_clipboard_context(client: DapClient) -> None:
    client.launch(launch(), {COMPILED: [line(COMPILED, "helper")]})
    assert client.wait_for_stop().evaluate("q.shape", context="clipboard").result == "torch.Size([2, 3])"


@pytest.mark.capability("supportsValueFormattingOptions")
def test_supports_value_formatting_options(client: DapClient) -> None:
    client.launch(launch(), {COMPILED: [line(COMPILED, "first")]})
    stop = client.wait_for_stop()
    locals_ = stop.scopes()["Locals"].variables_reference
    assert stop.variables(locals_)["width"].value == "4"
    assert stop.variables(locals_, format={"hex": True})["width"].value == "0x4"


@pytest.mark.capability("supportsCompletionsRequest")
def test_supports_completions_request(client: DapClient) -> None:
    client.launch(launch(), {COMPILED: [line(COMPILED, "after")]})
    stop = client.wait_for_stop()
    symbolic, running = stop.frames()[0].id, stop.frames()[1].id

    def labels(text: str, frame_id: int) -> list[str]:
        wanted = {"text": text, "column": len(text) + 1, "frameId": frame_id}
        return [target["label"] for target in client.request("completions", wanted)["targets"]]

    assert labels("wi", symbolic) == ["width"] and "ctx" in labels("", symbolic)
    assert "shape" in labels("1 + x.sh", symbolic) and labels("1 + nobody.x", symbolic) == []
    assert "label" in labels("la", running)


@pytest.mark.capability("supportsSetExpression")
@pytest.mark.capability("supportsSetVariable")
def test_supports_set_variable_and_expression(client: DapClient) -> None:
    client.launch(launch(), {COMPILED: [line(COMPILED, "ran")]})
    stop = client.wait_for_stop()
    reference = stop.scopes()["Locals"].variables_reference
    client.request("setVariable", {"variablesReference": reference, "name": "label", "value": "'other'"})
    assert stop.evaluate("label").result == "'other'"
    frame = stop.frames(0, 1)[0].id
    client.request("setExpression", {"expression": "label", "value": "'third'", "frameId": frame})
    assert stop.evaluate("label").result == "'third'"
    targets = client.request("stepInTargets", {"frameId": frame})["targets"]
    assert isinstance(targets, list)


@pytest.mark.capability("exceptionBreakpointFilters")
@pytest.mark.capability("supportsExceptionOptions")
def test_supports_exception_info_and_filters(client: DapClient) -> None:
    code = "def fail():\n    raise ValueError('no')\nfail()\n"
    client.launch({"code": code, "console": "internalConsole"}, exceptions=["raised"])
    stop = client.wait_for_stop()
    assert stop.reason == "exception"
    assert client.request("exceptionInfo", {"threadId": stop.thread_id})["exceptionId"].endswith("ValueError")
    stop.resume()


@WITH_AND_WITHOUT_DEBUGPY
def test_a_breakpoint_moves_to_the_next_line_with_code(client: DapClient, runtime: bool) -> None:
    empty = line(COMPILED, "after") - 1
    placed = client.launch(launch(runtime=runtime), {COMPILED: [empty]})[COMPILED][0]
    assert placed.verified and placed.line == line(COMPILED, "after") and placed.message
    assert client.wait_for_stop().where() == ("compiled [0/0]", line(COMPILED, "after"))


@WITH_AND_WITHOUT_DEBUGPY
def test_a_breakpoint_where_no_code_is_is_not_verified(client: DapClient, runtime: bool, tmp_path: Path) -> None:
    (tmp_path / "nothing.py").write_text("# only a comment\n")
    missing, nothing = tmp_path / "missing.py", tmp_path / "nothing.py"
    placed = client.launch(launch(runtime=runtime), {missing: [1], nothing: [1], COMPILED: [9999]})
    for path in (missing, nothing, COMPILED):
        assert not placed[path][0].verified, placed[path][0]
        assert placed[path][0].message


@pytest.mark.second_leg_only
def test_both_halves_stop_on_the_same_line(client: DapClient, tmp_path: Path) -> None:
    """A function that runs once by itself and once compiled."""
    path = tmp_path / "twice.py"
    path.write_text(
        "import torch\ndef f(x):\n    y = x + 1\n    return y\nf(torch.ones(2))\n"
        "torch.compile(f, backend='eager')(torch.ones(2))\n"
    )
    placed = client.launch(launch(path), {path: [3]})
    seen = []
    for _ in range(2):
        stop = client.wait_for_stop()
        assert stop.hit_breakpoint_ids == [placed[path][0].id]
        seen.append(stop.at_compile_time)
        stop.resume()
    assert seen == [False, True]
    assert client.wait_for_end() == 0


@pytest.mark.matrix
@WITH_AND_WITHOUT_DEBUGPY
def test_a_tiny_llama(client: DapClient, runtime: bool) -> None:
    from transformers.models.llama import modeling_llama

    assert modeling_llama.__file__ is not None
    library = Path(modeling_llama.__file__)
    source, first = inspect.getsourcelines(modeling_llama.LlamaMLP.forward)
    mlp = first + next(i for i, text in enumerate(source) if "down_proj" in text)
    placed = client.launch(launch(LLAMA, runtime=runtime, args=["eager"]), {library: [mlp]})
    stop = client.wait_for_stop()
    assert stop.hit_breakpoint_ids == [placed[library][0].id]
    frames = stop.symbolic_frames()
    assert frames[0].name == "LlamaMLP.forward [0/0]" and frames[0].line == mlp
    assert len(frames) >= 3
    assert stop.locals()["x"].value == "f32[1, 8, 32]"
    assert {"Locals", "Globals", "Value Stack", "Guards", "Shapes", "Graph", "Compile"} <= set(stop.scopes())
    stop.resume()
    assert client.wait_for_stop().where() == ("LlamaMLP.forward [0/0]", mlp)
    client.set_breakpoints(library)
    stop.resume()
    assert client.wait_for_end() == 0
    assert "logits (1, 8, 64)" in client.output("stdout")


def test_pause_shows_the_symbolic_frames_of_a_thread_that_compiles(client: DapClient, tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text(
        "import torch\ndef f(x):\n    x = x + 1\n    for i in range(3000):\n        x = x + i\n    return x\n"
        "torch.compile(f, backend='eager')(torch.ones(2))\n"
    )
    client.launch(launch(path), {path: [3]})
    stop = client.wait_for_stop()
    client.set_breakpoints(path)
    stop.resume()
    client.request("pause", {"threadId": stop.thread_id})
    stop = client.wait_for_stop()
    assert stop.reason == "pause" and stop.symbolic_frames()[0].name == "f [0/0]"
    assert stop.step("next").where()[0] == "f [0/0]"
    client.request("terminate")
