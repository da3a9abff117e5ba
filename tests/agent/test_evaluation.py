"""Expressions at a stop: what they give, what they refuse, and that the program does not notice."""

from __future__ import annotations

import collections
import operator
import random
import sys
import threading
from typing import Any

import pytest
import torch
from dynascope.agent.breakpoints.conditions import EvaluationError, condition_holds, format_log_message
from dynascope.agent.isolation import containment

from tests.support.marks import one_in
from tests.support.nonperturbation.stopped import Refused, Stopped, stop_in

pytestmark = pytest.mark.second_leg

LOG: list[int] = []
RECENT = hasattr(torch._dynamo.variables.tensor, "_tensor_debug_repr")
WRITTEN = "Tensor(shape=(8, 16), dtype=torch.float32)" if RECENT else "FakeTensor(..., size=(8, 16))"
"""How PyTorch's comptime writes the tensor `x` of the model below."""


def note(value: int) -> int:
    LOG.append(value)
    return value


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(16, 4), torch.nn.ReLU())
        self.seen: list[Any] = []
        self.calls = 0

    def width(self) -> int:
        return self.layers[0].out_features

    def helper(self, x: Any) -> Any:
        return self.layers(x) * self.calls

    @property
    def twice(self) -> int:
        return self.calls * 2

    def forward(self, x: Any, items: Any, unread: Any) -> Any:
        self.calls += 1
        factor = 3

        def inner(y: Any) -> Any:
            return y * factor

        self.seen.append(x)
        bound = self.helper
        result = inner(self.layers(x)) * items[0]  #: stop
        return result + 0 * bound(x)


def stop_in_model(inspect_stop: Any) -> Model:
    model = Model()
    x = torch.ones(8, 16)
    torch._dynamo.mark_dynamic(x, 0)
    stop_in(model, x, [1, 2, 3], {"k": torch.ones(2)}, inspect_stop=inspect_stop)
    assert (model.calls, len(model.seen), model.training) == (1, 1, True)
    return model


def test_the_type_says_when_a_dynamic_size_went_in_as_a_number() -> None:
    def function(x: Any, weight: Any, count: int) -> Any:
        y, z = x + 1, weight * 2
        return y @ z  #: stop

    def inspect_stop(stop: Stopped) -> None:
        assert stop.evaluate("y * 2").type == "torch.Tensor (sizes are hints)"
        assert stop.evaluate("y.shape[0] * 2").type == "int (sizes are hints)"
        assert stop.evaluate("count + 1").type == "int"
        assert stop.evaluate("z.t()").type == "torch.Tensor"

    x = torch.ones(8, 16)
    torch._dynamo.mark_dynamic(x, 0)
    stop_in(function, x, torch.ones(16, 4), 3, inspect_stop=inspect_stop)


@pytest.mark.parametrize(
    ("expression", "value"),
    one_in(
        2,
        [
            ("x.shape[0] > 4", "True"),
            ("(x @ x.t()).shape", "torch.Size([8, 8])"),
            ("(x * 2).relu()", "f32[8, 16]"),
            ("x.double()", "f64[8, 16]"),
            ("torch.nn.functional.relu(x).sum()", "f32[]"),
            ("self.layers(x)", "f32[8, 4]"),
            ("self.helper(x).shape", "torch.Size([8, 4])"),
            ("self.width() + 1", "5"),
            ("bound(x).shape", "torch.Size([8, 4])"),
            ("bound.__func__.__name__", "'helper'"),
            ("self.twice", "2"),
            ("inner(x)", "f32[8, 16]"),
            ("len(self.seen)", "1"),
            ("self.seen[0].dtype", "torch.float32"),
            ("isinstance(self, torch.nn.Module)", "True"),
            ("sum(p.numel() for p in self.parameters())", "68"),
            ("[item * 2 for item in items]", "[2, 4, 6]"),
            ("sorted(items, reverse=True)", "[3, 2, 1]"),
            ("items[-1]", "3"),
            ("unread['k']", "f32[2]"),
            ("{'x': x}", "{'x': f32[8, 16]}"),
            ("type(self).__name__", "'Model'"),
            ("factor if x.dim() == 2 else None", "3"),
            ("torch.randn(3)", "f32[3]"),
            ("note", "function note"),
        ],
    ),
)
def test_expressions(expression: str, value: str) -> None:
    stop_in_model(lambda stop: check(stop, expression, value))


def check(stop: Stopped, expression: str, value: str) -> None:
    assert stop.evaluate(expression).result == value


def test_a_name_is_the_row_of_locals() -> None:
    def inspect_stop(stop: Stopped) -> None:
        for name, row in stop.scope("Locals").items():
            result = stop.evaluate(name, "hover")
            assert (result.result, result.type) == (row.value, row.type)
            assert bool(result.variables_reference) == bool(row.variables_reference)
            if row.variables_reference:
                inside = [(child.name, child.value) for child in stop.below(row).values()]
                assert inside == [(child.name, child.value) for child in stop.below(result).values()]

    stop_in_model(inspect_stop)


def test_every_evaluate_name_evaluates_to_its_row() -> None:
    def inspect_stop(stop: Stopped) -> None:
        checked = 0
        for row in stop.scope("Locals").values():
            for child in stop.below(row).values() if row.variables_reference else ():
                if child.evaluate_name is not None:
                    shown = stop.evaluate(child.evaluate_name, "watch").result
                    assert shown == child.value or child.name == "stride"
                    checked += 1
        assert checked > 10

    stop_in_model(inspect_stop)


@pytest.mark.parametrize(
    "expression",
    one_in(
        2,
        [
            "self.seen.append(1)",
            "self.calls = 7",
            "self.calls += 1",
            "del self.calls",
            "self.train(False)",
            "items.append(4)",
            "items[0] = 9",
            "items += [1]",
            "unread.clear()",
            "unread['z'] = 1",
            "note(1)",
            "setattr(self, 'calls', 3)",
            "self.layers.append(torch.nn.ReLU())",
        ],
    ),
)
@pytest.mark.parametrize("context", ["repl", pytest.param("hover", marks=pytest.mark.matrix)])
def test_what_would_change_the_program_is_refused(expression: str, context: str) -> None:
    LOG.clear()
    items_before = [1, 2, 3]

    def inspect_stop(stop: Stopped) -> None:
        with pytest.raises(Refused) as refused:
            stop.evaluate(expression, context)
        assert str(refused.value)

    stop_in_model(inspect_stop)
    assert LOG == []
    assert items_before == [1, 2, 3]


@pytest.mark.parametrize(
    ("expression", "sentence"),
    one_in(
        2,
        [
            ("nothing", "NameError: name 'nothing' is not defined"),
            ("x.sum().item()", "This depends on tensor data, which is not known at compile time."),
            ("bool(x.sum() > 0)", "This depends on tensor data, which is not known at compile time."),
            ("1 +", "SyntaxError: invalid syntax"),
            ("", "There is nothing to evaluate."),
            ("x.nope", "AttributeError"),
            ("x.data_ptr() == 0", "The address of a tensor's data is not known at compile time."),
            ("1 / 0", "ZeroDivisionError: division by zero"),
            ("exit(3)", "SystemExit: 3"),
            ("x @ x", "RuntimeError"),
        ],
    ),
)
def test_errors_are_sentences(expression: str, sentence: str) -> None:
    def inspect_stop(stop: Stopped) -> None:
        with pytest.raises(Refused) as refused:
            stop.evaluate(expression)
        assert str(refused.value).startswith(sentence)

    stop_in_model(inspect_stop)


def test_hovering_runs_no_code_of_the_program() -> None:
    def inspect_stop(stop: Stopped) -> None:
        assert stop.evaluate("x.sum()", "hover").result == "f32[]"
        assert stop.evaluate("len(items)", "hover").result == "3"
        for expression in ("inner(x)", "self.helper(x)", "self.twice", "note(1)", "exec('1')", "(y := 1)"):
            with pytest.raises(Refused, match="Hovering"):
                stop.evaluate(expression, "hover")

    stop_in_model(inspect_stop)


def test_statements_are_kept_for_this_stop() -> None:
    def inspect_stop(stop: Stopped) -> None:
        assert stop.evaluate("doubled = x * 2").result == ""
        assert stop.evaluate("doubled").result == "f32[8, 16]"
        assert stop.evaluate("import math").result == ""
        assert stop.evaluate("math.floor(2.5)").result == "2"
        assert stop.evaluate("a = 1\nb = 2\na + b").result == "3"
        assert stop.evaluate("print('one')\nprint('two')").result == "one\ntwo"
        assert stop.evaluate("def area(t):\n    return t.numel()\n").result == ""
        assert stop.evaluate("area(x)").result == "128"
        with pytest.raises(Refused, match="Only an expression"):
            stop.evaluate("c = 1", "watch")
        assert "doubled" not in stop.scope("Locals")

    stop_in_model(inspect_stop)


def test_random_states_and_modes_are_put_back() -> None:
    def inspect_stop(stop: Stopped) -> None:
        before = torch.get_rng_state(), random.getstate(), torch.is_grad_enabled()
        stop.evaluate("torch.manual_seed(3)")
        stop.evaluate("__import__('random').seed(5)")
        stop.evaluate("torch.set_grad_enabled(False)")
        stop.evaluate("torch.set_default_dtype(torch.float64)")
        assert torch.equal(torch.get_rng_state(), before[0])
        assert (random.getstate(), torch.is_grad_enabled()) == before[1:]
        assert torch.get_default_dtype() is torch.float32

    stop_in_model(inspect_stop)


def test_nothing_is_compiled_by_the_console() -> None:
    def inspect_stop(stop: Stopped) -> None:
        frames = torch._dynamo.convert_frame.FRAME_COUNTER
        assert stop.evaluate("torch.compile(lambda t: t + 1, backend='eager')(x)").result == "f32[8, 16]"
        assert frames == torch._dynamo.convert_frame.FRAME_COUNTER

    stop_in_model(inspect_stop)


def test_ctx_reads_and_does_not_calculate() -> None:
    def inspect_stop(stop: Stopped) -> None:
        guards = len(stop.scope("Guards"))
        assert stop.evaluate("ctx.get_local('x').as_fake().shape[0] > 4").result.endswith("True")
        assert stop.evaluate("bool(ctx.get_local('x').as_fake().shape[0] > 4)").result == "True"
        with pytest.raises(Refused, match="can only be read"):
            stop.evaluate("ctx.get_local('x').as_fake() + 1")
        with pytest.raises(Refused, match="Hovering"):
            stop.evaluate("ctx.get_local('factor').force_static()", "hover")
        assert len(stop.scope("Guards")) == guards

    stop_in_model(inspect_stop)


def test_ctx_is_the_comptime_context() -> None:
    def inspect_stop(stop: Stopped) -> None:
        assert stop.evaluate("isinstance(ctx, torch._dynamo.comptime.ComptimeContext)").result == "True"
        assert stop.evaluate("ctx.get_local('x')").result.endswith(WRITTEN)
        assert stop.evaluate("ctx.get_local('x').as_fake().size(1)").result == "16"
        assert stop.evaluate("ctx.get_local('factor').as_python_constant()").result == "3"
        assert stop.evaluate("ctx.get_local('x').is_dynamic()").result == "False"
        assert stop.evaluate("ctx.get_local('items').python_type()").result == "class list"
        assert WRITTEN in stop.evaluate("ctx.print_locals()").result
        assert "def forward" in stop.evaluate("ctx.print_graph()").result
        assert "GRAD_MODE" in stop.evaluate("ctx.print_guards()").result
        assert "in forward" in stop.evaluate("ctx.print_bt()").result
        assert "RESUME" in stop.evaluate("ctx.print_disas()").result
        assert stop.evaluate("ctx.print_value_stack()").result == "None"  # it printed nothing
        assert stop.evaluate("ctx.graph()").result.startswith("graph():")

    stop_in_model(inspect_stop)


def test_ctx_breaks_the_graph_when_the_program_goes_on() -> None:
    def function(x: Any) -> Any:
        y = (x + 1) * 2
        return y - 1  #: stop

    said: list[str] = []
    torch._dynamo.utils.counters.clear()
    result = stop_in(
        function, torch.ones(2), inspect_stop=lambda stop: said.append(stop.evaluate("ctx.graph_break()").result)
    )
    assert result.tolist() == [3.0, 3.0]
    assert "changes what is compiled: when the program resumes, the graph ends at the last place" in said[0]
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
    assert torch._dynamo.utils.counters["stats"]["calls_captured"] == 2


def test_frames_of_the_running_program_are_evaluated_as_they_are() -> None:
    def inspect_stop(stop: Stopped) -> None:
        names = [frame.name for frame in stop.frames]
        frame = names.index("stop_in_model")
        locals_ = stop.scope("Locals", frame)
        assert locals_["x"].value == "f32[8, 16]"
        assert stop.evaluate("model.calls", frame=frame).result == "0"
        assert stop.evaluate("x.sum().item()", frame=frame).result == "128.0"
        with pytest.raises(Refused, match="NameError"):
            stop.evaluate("nothing", frame=frame)

    stop_in_model(inspect_stop)


def current_translator() -> Any:
    from torch._dynamo.symbolic_convert import InstructionTranslator

    return InstructionTranslator.current_tx().output._current_tx[-1]


def test_conditions() -> None:
    def inspect_stop(stop: Stopped) -> None:
        translator = current_translator()
        assert condition_holds("x.shape[0] == 8 and self.calls == 1", translator)
        assert not condition_holds("x.dtype == torch.float64", translator)
        for unknown in ("x.sum() > 0", "nothing", "x ="):
            with pytest.raises(EvaluationError):
                condition_holds(unknown, translator)

    stop_in_model(inspect_stop)


def test_log_messages() -> None:
    def inspect_stop(stop: Stopped) -> None:
        text = format_log_message("{{x}} is {x.dtype}, {len(items)} items, {nothing}", current_translator())
        assert text == "{x} is torch.float32, 3 items, <NameError: name 'nothing' is not defined>"
        assert format_log_message("{ {'a': 1}['a'] }", current_translator()) == "1"
        text = format_log_message(
            "{self.calls:03d} {x.shape[0]!r} {factor:>{len(items)}}| {'a}b'!s:.2} {'s'!r} {x} {x!r:>12} {factor:q}",
            current_translator(),
        )
        assert text.startswith("001 8   3| a} 's' f32[8, 16]   f32[8, 16] <ValueError: Unknown format code 'q'")
        assert "which is not known at compile time" in format_log_message("{x.sum():.2f}", current_translator())

    stop_in_model(inspect_stop)


@pytest.mark.second_leg_only
@pytest.mark.parametrize(
    ("expression", "why"),
    one_in(
        2,
        [
            ("breakpoint()", "breakpoint\\(\\) cannot be used at a stop: the program is stopped already"),
            ("__import__('pdb').set_trace()", "stopped already"),
            ("torch._dynamo.reset()", "Dynamo is in the middle of a compile"),
            ("torch.compiler.reset()", "Dynamo is in the middle of a compile"),
            ("torch._dynamo.reset_code_caches()", "Dynamo is in the middle of a compile"),
            ("input()", "the program has no input"),
            ("__import__('sys').stdin.readline()", "the program has no input"),
            ("__import__('os')._exit(3)", "it would end the program"),
            ("__import__('os').fork()", "it would end the program"),
            ("__import__('signal').raise_signal(2)", "it would end the program"),
            ("__import__('threading').Event().wait()", "took more than"),
            ("__import__('queue').Queue().get()", "took more than"),
            ("__import__('threading').main_thread().join()", "RuntimeError"),
        ],
    ),
)
def test_an_expression_does_not_leave_its_stop(expression: str, why: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(containment, "WAITS", 0.05)
    doors = sys.breakpointhook, sys.settrace, sys.stdin, torch._dynamo.convert_frame.compile_lock, threading.Thread.join

    def inspect_stop(stop: Stopped) -> None:
        with pytest.raises(Refused, match=why):
            stop.evaluate(expression)
        assert stop.evaluate("1").result == "1"

    stop_in_model(inspect_stop)
    lock = torch._dynamo.convert_frame.compile_lock
    assert (sys.breakpointhook, sys.settrace, sys.stdin, lock, threading.Thread.join) == doors
    with pytest.raises(EvaluationError, match="Dynamo is in the middle"):
        stop_in_model(lambda stop: condition_holds("torch._dynamo.reset()", current_translator()))


def test_an_expression_may_use_threads_that_end() -> None:
    program = "t = __import__('threading').Thread(target=lambda: None)\nt.start()\nt.join()\nt.is_alive()"
    stop_in_model(lambda stop: check(stop, program, "False"))
    stop_in_model(lambda stop: check(stop, "torch._dynamo.comptime.comptime.breakpoint()", "None"))


class Scaled:
    def __get__(self, owner: Any, kind: Any) -> Any:
        return self if owner is None else vars(owner)["rate"] * 2

    def __set__(self, owner: Any, value: Any) -> None:
        vars(owner)["rate"] = value


class Lazy:
    def __get__(self, owner: Any, kind: Any) -> Any:
        return kind.base + 6


class Described:
    rate = Scaled()
    lazy = Lazy()
    base = 1

    def __init__(self) -> None:
        self.rate = 3


def test_descriptors_of_the_user() -> None:
    def function(x: Any, owner: Any) -> Any:
        y = x * owner.base
        return y + 1  #: stop

    def inspect_stop(stop: Stopped) -> None:
        assert stop.evaluate("owner.rate").result == "6"
        assert stop.evaluate("owner.lazy, owner.lazy == 7").result == "(7, True)"
        assert stop.evaluate("owner.lazy", "watch").result == "7"
        with pytest.raises(Refused, match="Hovering does not run the descriptor"):
            stop.evaluate("owner.lazy", "hover")
        content = stop.below(stop.scope("Locals")["owner"])["rate"]
        assert (content.value, content.evaluate_name) == ("3", None)
        assert condition_holds("owner.rate == 6 and owner.lazy == 7", current_translator())

    stop_in(function, torch.ones(2), Described(), inspect_stop=inspect_stop)


def test_a_name_of_the_program_goes_before_ctx() -> None:
    def function(ctx: Any, x: Any) -> Any:
        y = x * ctx.base
        return y + 1  #: stop

    def inspect_stop(stop: Stopped) -> None:
        assert stop.evaluate("ctx.base == 1").result == "True"
        assert condition_holds("ctx.base == 1 and x is not None", current_translator())
        for expression in ("ctx.base == 1", "ctx"):
            assert stop.evaluate(expression, "watch").type in ("bool", "tests.agent.test_evaluation.Described")
        with pytest.raises(Refused, match="the debugger's ComptimeContext is `__ctx__`"):
            stop.evaluate("ctx.print_locals()")
        assert "y = " in stop.evaluate("__ctx__.print_locals()").result
        assert stop.evaluate("ctx.base, __ctx__.get_local('x').size(0)").result == "(1, 2)"

    stop_in(function, Described(), torch.ones(2), inspect_stop=inspect_stop)


class Typed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(4, 4))
        self.w.grad = torch.ones(4, 4)
        self.register_buffer("b", torch.ones(4))
        self.last: Any = collections.deque([1])
        self.table = collections.OrderedDict(a=1)

    def is_plain(self, value: Any) -> bool:
        return type(value) is torch.Tensor

    def forward(self, x: Any, items: Any, computed: Any) -> Any:
        y = x @ self.w
        z = (x + self.b).detach()
        items.append(len(self.last) + self.table["a"])
        return y + z + computed  #: stop


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("type(x) is torch.Tensor, type(y) is torch.Tensor, type(y * 2) is torch.Tensor", "(True, True, True)"),
        ("type(self.w) is torch.nn.Parameter", "True"),
        ("isinstance(self.w, torch.nn.Parameter), isinstance(y, torch.nn.Parameter)", "(True, False)"),
        ("isinstance(x, torch.Tensor), isinstance(x, (int, torch.FloatTensor))", "(True, True)"),
        ("type(self) is Typed, type(self).__name__, self.__class__ is Typed", "(True, 'Typed', True)"),
        (
            "type(items) is list, type(self.last).__name__, type(self.table).__name__",
            "(True, 'deque', 'OrderedDict')",
        ),
        ("x.__class__ is torch.Tensor, self.is_plain(y), self.is_plain(self.w)", "(True, True, False)"),
        ("y.grad_fn is None, y.requires_grad, y.is_leaf", "(False, True, False)"),
        ("type(y.grad_fn).__name__, (y * 2).grad_fn is None", "('MmBackward0', False)"),
        ("z.grad_fn, z.requires_grad, x.grad_fn, x.is_leaf", "(None, False, None, True)"),
        ("type(computed.grad_fn).__name__, computed.is_leaf", "('MulBackward0', False)"),
        (
            "self.w.grad_fn, self.w.is_leaf, self.w.grad.shape, self.b.grad",
            "(None, True, torch.Size([4, 4]), None)",
        ),
        ("type(int) is type, isinstance(Typed, type), issubclass(type(Typed), type)", "(True, True, True)"),
        ("type('Made', (), {'a': 1}).a, type(3), type", "(1, class int, class type)"),
        ("__class__ is Typed, __class__.__name__", "(True, 'Typed')"),
        ("super().extra_repr()", "''"),
        ("super(Typed, self).training", "AttributeError"),
        ("' '.join(sorted(locals()))", "'computed items self x y z'"),
        ("locals()['y'].shape", "torch.Size([4, 4])"),
        (
            "{**locals()}['x'].dim(), len(locals()), sorted(vars()) == sorted(locals()), 'x' in dir()",
            "(2, 6, True, True)",
        ),
        ("globals()['LOG'], 'Typed' in globals(), globals().get('nobody')", "([], True, None)"),
        ("{'a': 1}.keys(), {'a': 1}.values()", "(dict_keys(['a']), dict_values([1]))"),
    ],
)
def test_types_and_names_are_those_of_the_program(expression: str, value: str) -> None:
    LOG.clear()

    def inspect_stop(stop: Stopped) -> None:
        if value == "AttributeError":
            with pytest.raises(Refused, match=value):
                stop.evaluate(expression)
        else:
            assert stop.evaluate(expression).result == value

    leaf = torch.ones(4, 4, requires_grad=True)
    stop_in(Typed(), torch.ones(4, 4), [], leaf * 2, inspect_stop=inspect_stop)


def test_a_condition_on_a_type_holds() -> None:
    def inspect_stop(stop: Stopped) -> None:
        for condition in ("type(x) is torch.Tensor", "isinstance(self.w, torch.nn.Parameter)", "y.grad_fn is not None"):
            assert condition_holds(condition, current_translator())
        assert stop.evaluate("locals()").result.startswith("{'self': ")
        assert "'LOG': " in stop.evaluate("globals()", "clipboard").result
        assert stop.evaluate("globals().keys()").result.startswith("dict_keys([")

    stop_in(Typed(), torch.ones(4, 4), [], torch.ones(4, 4), inspect_stop=inspect_stop)


def test_iterators_are_read_and_not_advanced() -> None:
    def function(x: Any, real: Any) -> Any:
        it = iter([x, x + 1, x * 2])
        first = next(it)
        z = zip([1, 2], [3, 4])  # noqa: B905
        keys = iter({"a": x, "b": 2}.items())
        mapped = map(operator.neg, [1, 2])
        y = first + 5
        y = y + 0  #: stop
        return y + len(list(it)) + sum(a * b for a, b in z) + len(list(keys)) - sum(mapped)

    def inspect_stop(stop: Stopped) -> None:
        for _ in range(2):
            assert stop.evaluate("[t.shape for t in it]").result == "[torch.Size([2]), torch.Size([2])]"
            assert stop.evaluate("list(z)").result == "[(1, 3), (2, 4)]"
            assert stop.evaluate("next(z), [a * b for a, b in z]").result == "((1, 3), [8])"
            assert stop.evaluate("list(real)").result == "[6, 7]"
        assert "zip" in stop.evaluate("z").result
        try:
            assert stop.evaluate("[key for key, _ in keys]").result == "['a', 'b']"
        except Refused as refused:
            assert "known only by advancing it" in str(refused)
        with pytest.raises(Refused, match="known only by advancing it"):
            stop.evaluate("list(mapped)")

    numbers = iter([5, 6, 7])
    next(numbers)
    result = stop_in(function, torch.ones(2), numbers, inspect_stop=inspect_stop)
    assert list(numbers) == [6, 7]
    assert result.tolist() == [1 + 5 + 2 + 11 + 2 + 3.0] * 2


def test_what_is_kept_in_c_is_read_or_refused() -> None:
    def function(x: Any, error: Any) -> Any:
        y = x * 2
        return y + 1  #: stop

    def inspect_stop(stop: Stopped) -> None:
        assert stop.evaluate("error.args, error.__cause__").result == "((3,), None)"
        assert stop.evaluate("'message: %s' % error.args").result == "'message: 3'"

    stop_in(function, torch.ones(2, requires_grad=True), ValueError(3), inspect_stop=inspect_stop)


@torch.library.custom_op("evaluation::repeated", mutates_args=())
def repeated(x: torch.Tensor, times: int) -> torch.Tensor:
    return torch.cat([x] * times)


@repeated.register_fake
def _(x: torch.Tensor, times: int) -> torch.Tensor:
    return x.new_empty(times * x.shape[0])


def test_operators_of_the_program_are_called() -> None:
    def function(x: Any) -> Any:
        return repeated(x, 2) + 1  #: stop

    def inspect_stop(stop: Stopped) -> None:
        assert stop.evaluate("repeated(x, 3).shape").result == "torch.Size([6])"
        assert stop.evaluate("torch.ops.evaluation.repeated.default(x, 4).shape").result == "torch.Size([8])"

    stop_in(function, torch.ones(2), inspect_stop=inspect_stop)
