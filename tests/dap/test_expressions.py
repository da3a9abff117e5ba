"""Expressions at a compile-time stop through a real client: the console, the clipboard, completions, setting values."""

from __future__ import annotations

import sys

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.dap.launches import launch

PROGRAM = """
import torch
from dynascope import comptime

def helper(x, scale):
    return x * scale  # STOP

def function(x, items, text):
    y = x + 1
    comptime.print_locals()
    comptime.breakpoint()
    return torch.add(y, helper(y, scale=2))

torch.compile(function, backend="eager")(torch.ones(4, 3), list(range(50)), "a" * 1000)
"""


@pytest.fixture
def stop(client: DapClient, tmp_path) -> Stop:  # type: ignore[no-untyped-def]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    client.launch(launch(program), {})
    return client.wait_for_stop()


def test_comptime_prints_to_the_program_and_stops_at_its_line(client: DapClient, stop: Stop) -> None:
    assert stop.at_compile_time and stop.where() == ("function [0/0]", 11)
    assert "x = " in client.wait_for_output("y = ", "stdout")


def test_the_console_takes_statements_of_many_lines(stop: Stop) -> None:
    stop.evaluate(
        "def twice(value):\n    result = []\n    for _ in range(2):\n        result.append(value.shape[0])\n"
        "    return result"
    )
    assert stop.evaluate("twice(x)").result == "[4, 4]"
    stop.evaluate("total = 0\nfor i in range(4):\n    total += i")
    assert stop.evaluate("total").result == "6"
    stop.evaluate("x = 5")  # a name of the console, not the program's local
    assert stop.evaluate("x").result == "5" and stop.locals()["x"].value == "f32[4, 3]"
    console = stop.variables(stop.scopes()["Console"].variables_reference)
    assert console["total"].value == "6" and console["x"].value == "5"


def test_the_clipboard_gets_whole_texts(stop: Stop) -> None:
    assert stop.evaluate("text").result.endswith("(1,000 characters)")
    assert stop.evaluate("text", context="clipboard").result == repr("a" * 1000)
    assert "… 50 items" in stop.evaluate("items").result
    assert stop.evaluate("items", context="clipboard").result == str(list(range(50)))


def test_numbers_may_be_hexadecimal_and_frames_named_with_their_lines(client: DapClient, stop: Stop) -> None:
    wanted = {"expression": "items[40]", "frameId": stop.frames()[0].id, "context": "watch", "format": {"hex": True}}
    assert client.request("evaluate", wanted)["result"] == "0x28"
    asked = {"threadId": stop.thread_id, "levels": 1, "format": {"line": True, "module": True}}
    assert client.request("stackTrace", asked)["stackFrames"][0]["name"] == "program.function [0/0] : 11"


def test_completions_name_methods_and_console_names(client: DapClient, stop: Stop) -> None:
    stop.evaluate("mine = 3")

    def labels(text: str, line: int = 1) -> list[str]:
        column = len(text.splitlines()[line - 1]) + 1
        wanted = {"text": text, "column": column, "line": line, "frameId": stop.frames()[0].id}
        return [target["label"] for target in client.request("completions", wanted)["targets"]]

    assert labels("min") == ["mine"]
    assert "relu" in labels("y.re") and "requires_grad" in labels("y.re")
    assert labels("ctx.print_l") == ["print_locals"]
    assert "append" in labels("for i in items:\n    items.app", 2)


def test_values_are_set_where_that_can_be_honoured(client: DapClient, stop: Stop) -> None:
    frame = stop.frames()[0].id
    stop.evaluate("mine = 3")
    changed = client.request("setExpression", {"expression": "mine", "value": "mine + 4", "frameId": frame})
    assert changed["value"] == "7" and stop.evaluate("mine").result == "7"
    for expression in ("x", "items[0]", "nobody"):
        why = client.failure("setExpression", {"expression": expression, "value": "1", "frameId": frame})
        assert "cannot be set at a compile-time stop" in why and "debug console" in why
    scopes = stop.scopes()
    console = scopes["Console"].variables_reference
    changed = client.request("setVariable", {"variablesReference": console, "name": "mine", "value": "mine * 2"})
    assert changed["value"] == "14" and stop.evaluate("mine").result == "14"
    assert stop.variables(console)["mine"].presentation_hint is None
    assert stop.evaluate("mine", context="watch").presentation_hint is None
    watched = client.request("dataBreakpointInfo", {"variablesReference": console, "name": "mine"})
    assert watched["dataId"] is None and "debug console" in watched["description"]
    locals_ = scopes["Locals"].variables_reference
    hint = stop.variables(locals_)["x"].presentation_hint
    assert hint is not None and hint.attributes == ["readOnly"]  # clients offer no "Set Value" there
    why = client.failure("setVariable", {"variablesReference": locals_, "name": "x", "value": "1"})
    assert "trace this function again" in why


def test_the_console_says_what_changes_the_compile(stop: Stop) -> None:
    result = stop.evaluate("ctx.get_local('y').is_dynamic(), ctx.get_local('y').size(0)").result
    assert result == "(False, 4)"
    assert "x = " in stop.evaluate("ctx.print_locals()").result


def test_slots_of_the_value_stack_have_names(client: DapClient, tmp_path) -> None:  # type: ignore[no-untyped-def]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("    comptime.breakpoint()\n", ""))
    client.launch(launch(program), {program: [6]})
    stop = client.wait_for_stop()
    caller = stop.frames()[1].id
    names = [name.partition(" ")[2] for name in stop.variables(stop.scopes(caller)["Value Stack"].variables_reference)]
    callee = ["NULL", "callee"] if sys.version_info >= (3, 13) else ["callee", "NULL"]
    assert names == ["arg 1", *callee]


def test_an_expression_neither_resumes_its_thread_nor_clears_what_dynamo_works_on(
    client: DapClient,
    tmp_path,  # type: ignore[no-untyped-def]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("    comptime.breakpoint()\n", ""))
    client.launch(launch(program), {program: [9, 11]})
    stop = client.wait_for_stop()
    assert stop.where() == ("function [0/0]", 9)
    for expression, why in (
        ("breakpoint()", "the program is stopped already"),
        ("__import__('debugpy').breakpoint()", "the program is stopped already"),
        ("torch._dynamo.reset()", "Dynamo is in the middle of a compile"),
        ("input()", "the program has no input"),
        ("__import__('os')._exit(3)", "it would end the program"),
    ):
        wanted = {"expression": expression, "frameId": stop.frames()[0].id, "context": "repl"}
        assert why in client.failure("evaluate", wanted)
        assert stop.evaluate("x.dim()").result == "2"
    stop.resume()
    assert client.wait_for_stop().where() == ("function [0/0]", 11)


def test_types_descriptors_and_names_are_those_of_the_program(client: DapClient, tmp_path) -> None:  # type: ignore[no-untyped-def]
    program = tmp_path / "program.py"
    program.write_text("""
import torch

class Six:
    def __get__(self, owner, kind):
        return 6
    def __set__(self, owner, value):
        pass

class Model(torch.nn.Module):
    six = Six()
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(4, 4))
    def forward(self, x):
        y = x @ self.w
        return y * self.six  # STOP

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p):
        ctx.p = p
        return x ** p
    @staticmethod
    def backward(ctx, g):
        return g * ctx.p, None

x = torch.ones(4, 4, requires_grad=True)
torch.compile(Model(), backend="eager")(x)
torch.compile(lambda x: Square.apply(x, 2), backend="eager")(x)
""")
    line, inside = 17, 23
    holds = "type(x) is torch.Tensor and isinstance(self.w, torch.nn.Parameter) and self.six == 6"
    asked = [{"line": line, "condition": holds}, {"line": inside, "condition": "ctx.p == 2"}]
    client.launch(launch(program), {program: asked})
    stop = client.wait_for_stop()
    assert stop.where() == ("Model.forward [0/0]", line)
    assert stop.evaluate("self.six, y.grad_fn is None, __class__.__name__").result == "(6, False, 'Model')"
    assert stop.evaluate("locals().keys()").result == "dict_keys(['self', 'x', 'y'])"
    assert "'Model': class Model" in stop.evaluate("globals()", context="clipboard").result
    stop.resume()
    stop = client.wait_for_stop()
    assert stop.where()[1] == inside and stop.at_compile_time
    assert stop.evaluate("ctx.p == 2").result == "True" and "x = " in stop.evaluate("__ctx__.print_locals()").result
    assert "cannot be evaluated" not in client.output("important")


def test_logpoints_format_as_f_strings_do_and_iterators_stay_where_they_are(client: DapClient, tmp_path) -> None:  # type: ignore[no-untyped-def]
    program = tmp_path / "program.py"
    program.write_text("""
import torch

def function(x, n):
    it = iter([1, 2, 3])
    y = x * next(it)
    return y + sum(it) + n

torch.compile(function, backend="eager")(torch.ones(4, 3), 7)
print("end")
""")
    compiled = {"line": 6, "logMessage": "n={n:03d} {x.shape[0]!r} {n:>{2}}|"}
    running = {"line": 10, "logMessage": "torch {3:03d} {'t'!r}"}
    client.launch(launch(program), {program: [compiled, 7, running]})
    stop = client.wait_for_stop()
    assert "n=007 4  7|" in client.output("console")
    assert stop.evaluate("list(it)").result == "[2, 3]" == stop.evaluate("list(it)").result
    stop.resume()
    client.wait_for_end()
    assert "torch 003 't'" in "".join(client.output(kind) for kind in ("console", "stdout", "stderr", "important"))
