"""`dynascope.comptime`: every name of PyTorch's, its printed layout, and none of its influence on the compile."""

from __future__ import annotations

import ast
import contextlib
import dis
import inspect
import io
import re
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dynascope
import pytest
import torch
from dynascope import comptime
from dynascope.agent.isolation import comptime_context
from dynascope.agent.session import session as current
from torch._dynamo import comptime as pytorchs
from torch._dynamo import convert_frame
from torch._dynamo.utils import counters

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import one_in
from tests.support.nonperturbation import capture, programs
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, OWN, Program, export_example

pytestmark = pytest.mark.second_leg

COMPTIME: Any = comptime
"""Replaced with PyTorch's to compare the two."""


def public(owner: Any) -> set[str]:
    return {name for name in dir(owner) if not name.startswith("_") or name.startswith("_i_will")}


# ---- the same names


@pytest.mark.parametrize(
    ("ours", "pytorchs_"),
    [
        (comptime, pytorchs.comptime),
        (comptime_context.ComptimeContext, pytorchs.ComptimeContext),
        (comptime_context.ComptimeVar, pytorchs.ComptimeVar),
        (comptime_context.RealVar, pytorchs.ComptimeVar),
    ],
)
def test_every_public_name_of_pytorchs_has_its_signature(ours: Any, pytorchs_: Any) -> None:
    assert public(pytorchs_) - public(ours) == set()
    for name in public(pytorchs_):
        theirs, here = (inspect.signature(getattr(owner, name)).parameters.values() for owner in (pytorchs_, ours))
        assert [(p.name, p.kind, p.default) for p in here] == [(p.name, p.kind, p.default) for p in theirs], name
    assert callable(comptime)


READS = {  # how each name of PyTorch's is used in the programs below: nothing public may be missing here
    "comptime": "print print_graph print_disas print_value_stack print_value_stack_and_return print_locals print_bt "
    "print_guards assert_static force_static graph_break breakpoint sleep",
    "context": "get_local graph parent print print_graph print_disas print_value_stack print_locals print_bt "
    "print_guards assert_static graph_break sleep _i_will_not_complain_if_bc_breaks_InstructionTranslator",
    "variable": "as_proxy is_proxy as_fake size python_type as_python_constant is_python_constant is_dynamic "
    "force_static _i_will_not_complain_if_bc_breaks_VariableTracker",
}


def test_no_name_of_pytorchs_is_untested() -> None:
    assert public(pytorchs.comptime) == set(READS["comptime"].split())
    assert public(pytorchs.ComptimeContext) == set(READS["context"].split())
    assert public(pytorchs.ComptimeVar) == set(READS["variable"].split())


# ---- the same text


def compiled(function: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """What compiling and calling prints."""
    torch._dynamo.reset()
    with contextlib.redirect_stdout(io.StringIO()) as output:
        torch.compile(function, backend="eager", **options)(*arguments)
    return output.getvalue()


class Settings:
    scale = 2


def everything(x: Any, items: Any, table: Any, settings: Any, count: Any) -> Any:
    y = x * settings.scale + items[0] * items[1] + table["k"]
    pair, one, kinds, numbers = (y, count), (3,), {1, 2}, range(1, 9, 2)
    size, part, made, joined = y.shape, slice(1, 2), [y, [y]], f"{y.dim()}"
    total = y.sum() + sum(kinds) + len(numbers) + size[0] + len(joined) + made[0][part].sum() + one[0] + pair[1]

    def inner(z: Any) -> Any:
        COMPTIME.print_locals(stacklevel=1)
        COMPTIME.print_bt()
        COMPTIME.print_bt(stacklevel=1)
        COMPTIME.print_value_stack(stacklevel=1)
        return z + COMPTIME.print_value_stack_and_return(z)

    total = total + inner(y)
    COMPTIME.print(total)
    COMPTIME.print_locals()
    COMPTIME.print_graph()
    COMPTIME.print_disas()
    COMPTIME.print_guards()
    COMPTIME.assert_static(3)
    COMPTIME.sleep(0)
    COMPTIME(inspect_stop)
    COMPTIME(lambda ctx: ctx.print_locals(stacklevel=0))
    return total


def inspect_stop(ctx: Any) -> None:
    y, count, one = ctx.get_local("y"), ctx.get_local("count"), ctx.get_local("one")
    print(y, y.is_proxy(), y.as_proxy(), y.as_fake().shape, y.size(), y.size(0), y.python_type(), y.is_dynamic())
    print(count.is_dynamic(), count.is_proxy(), count.as_proxy(), count.python_type())
    print(one.as_python_constant(), one.is_python_constant(), one.python_type(), y.is_python_constant(), one)
    print(type(ctx.graph()).__name__, len(ctx.graph().nodes))
    ctx.assert_static(one)
    ctx.print(one)
    ctx.print_graph(verbose=False)
    ctx.print_value_stack(stacklevel=0)


def with_comptime(function: Any, value: Any) -> Any:
    """The same code with `COMPTIME` meaning `value`."""
    return types.FunctionType(function.__code__, {**globals(), "COMPTIME": value}, function.__name__)


ARGUMENTS = (torch.ones(4, 3), [torch.ones(3), 2], {"k": torch.ones(3)}, Settings(), 5)


@pytest.mark.parametrize("dynamic", [False, True])
def test_prints_what_pytorchs_prints(dynamic: bool) -> None:
    theirs = compiled(with_comptime(everything, pytorchs.comptime), *ARGUMENTS, dynamic=dynamic)
    ours = compiled(with_comptime(everything, comptime), *ARGUMENTS, dynamic=dynamic)
    assert _comparable(ours) == _comparable(theirs)


def _comparable(text: str) -> list[str]:
    # PyTorch's own leaves guards on itself, and a frame of its own in the backtrace
    before_guards, _, rest = re.sub(r"0x[0-9a-f]+", "0x", text).partition("\n\n        local")
    after_guards = rest[rest.rfind("'guarded_class': None") :]
    lines = [line for line in (before_guards + after_guards).splitlines() if "comptime(" not in line]
    drop = {i for i, line in enumerate(lines) if "_dynamo/comptime.py" in line}
    return [line for i, line in enumerate(lines) if i not in drop and line.strip()]


def test_outside_a_compile_the_fallback_runs() -> None:
    called: list[str] = []
    assert comptime(lambda ctx: called.append("compile"), lambda: called.append("fallback")) is None
    comptime(lambda ctx: called.append("compile"))
    assert called == ["fallback"]
    assert comptime.print_value_stack_and_return(3) == 3
    with contextlib.redirect_stdout(io.StringIO()) as output:
        comptime.print(7)
        for name in ("print_locals", "print_graph", "print_bt", "print_guards", "print_disas", "graph_break"):
            getattr(comptime, name)()
        comptime.breakpoint()
    assert output.getvalue() == "7\n"


# ---- and no influence


class _Insert(ast.NodeTransformer):
    """A call behind every statement, on its line."""

    def __init__(self, call: str) -> None:
        self.call = call

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.body = list(self._with_calls(node.body))
        return node

    def _with_calls(self, body: list[ast.stmt]) -> Iterator[ast.stmt]:
        for statement in body:
            if not isinstance(statement, ast.Return):
                yield statement
            for call in ast.parse(self.call).body:
                yield ast.fix_missing_locations(_moved(call, statement))
            if isinstance(statement, ast.Return):
                yield statement


def _moved(call: ast.stmt, to: ast.stmt) -> ast.stmt:
    for node in ast.walk(call):
        if "lineno" in node._attributes:
            ast.copy_location(node, to)
            node.end_lineno = to.lineno  # type: ignore[attr-defined]
    return call


CALLS = {
    "print_locals": "comptime.print_locals()",
    "others": "comptime.print_graph(); comptime.print_guards(); comptime.print_bt(); comptime.print_disas(); "
    "comptime.print_value_stack(); comptime(lambda ctx: look_at_all(ctx)); dynascope.comptime.assert_static(3)",
}


def inspect_all(ctx: Any) -> None:
    translator = ctx._i_will_not_complain_if_bc_breaks_InstructionTranslator()
    for name in list(translator.symbolic_locals):
        with contextlib.suppress(NotImplementedError):
            variable = ctx.get_local(name)
            print(variable, variable.is_proxy(), variable.is_python_constant(), variable.is_dynamic())
            print(variable.python_type())
            if variable.is_proxy():
                fake = variable.as_fake()
                print(fake, getattr(fake, "shape", None))
                if getattr(fake, "ndim", 0):
                    print(variable.size(0) > 3, bool(variable.size(0) == 12))


def rebuilt(name: str, call: str, pytorchs_own: bool = False) -> Program:
    """An own program, its functions compiled again with `call` behind every statement."""
    program = OWN[name]()
    path = Path(programs.__file__)
    tree = ast.parse(path.read_text())
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    world = {**vars(programs), "look_at_all": inspect_all, "dynascope": dynascope}
    world["comptime"] = pytorchs.comptime if pytorchs_own else comptime
    exec(compile(_Insert(call).visit(tree), str(path), "exec"), world)
    return program._replace(function=world[name])


def traces_of(program: Program) -> tuple[capture.Traces, list[str]]:
    """What the compile leaves behind, and the instructions that Dynamo generated."""
    generated: list[str] = []

    def note(_before: Any, after: types.CodeType) -> None:
        for instruction in dis.get_instructions(after):
            text = re.sub(r"__compiled_fn_\w+|0x\w+", "_", f"{instruction.opname} {instruction.argrepr}")
            generated.append(re.sub(r"\d+", "N", text))

    hook = convert_frame.register_bytecode_hook(note)
    try:
        traces = capture.run(program, contextlib.nullcontext())
    finally:
        hook.remove()
    traces.bytecode.clear()  # the code before holds the very calls
    return traces, generated


@pytest.mark.parametrize("calls", sorted(CALLS))
@pytest.mark.parametrize("name", one_in(3, sorted(OWN)))
def test_the_compile_is_that_of_the_program_without_it(name: str, calls: str) -> None:
    traces_of(rebuilt(name, ""))  # warms caches
    plain, plain_code = traces_of(rebuilt(name, ""))
    ours, ours_code = traces_of(rebuilt(name, CALLS[calls]))
    assert plain.differences(ours) == []
    assert plain_code == ours_code


@pytest.mark.parametrize("name", one_in(6, EXPORT_EXAMPLES))
def test_the_compile_of_an_example_is_that_without_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for call in ("", "", "comptime.print_locals(); comptime(lambda ctx: look_at_all(ctx))"):  # the first warms caches
        program = export_example(name)
        kind = type(program.function)
        forward = kind.__dict__["forward"]
        if forward.__code__.co_freevars or kind.__module__.startswith("torch.nn"):
            pytest.skip("its forward cannot be compiled again by itself")
        lines, first = inspect.getsourcelines(forward)
        tree = ast.increment_lineno(ast.parse(textwrap.dedent("".join(lines))), first - 1)
        world = {**forward.__globals__, "comptime": comptime, "look_at_all": inspect_all}
        exec(compile(_Insert(call).visit(tree), forward.__code__.co_filename, "exec"), world)
        with monkeypatch.context() as patch:
            patch.setattr(kind, "forward", world["forward"])
            found.append(traces_of(program))
    (_, (plain, plain_code), (ours, ours_code)) = found
    assert plain.differences(ours) == []
    assert plain_code == ours_code


@pytest.mark.parametrize("name", ["untouched_arguments", "pending_mutations", "symbolic_sizes"])
def test_pytorchs_own_is_caught(name: str) -> None:
    plain, _ = traces_of(rebuilt(name, ""))
    theirs, _ = traces_of(rebuilt(name, CALLS["print_locals"], pytorchs_own=True))
    assert plain.differences(theirs)


# ---- however it is reached


def make_closure(captured: Any) -> Any:
    def function(x: Any) -> Any:
        captured.print_locals()
        return x + 1

    return function


def imports_it(x: Any) -> Any:
    from dynascope import comptime as local

    local.print_locals()
    return x + 1


def names_it(x: Any, tool: Any = comptime) -> Any:
    tool.print_locals()
    return x + 1


def from_the_package(x: Any) -> Any:
    dynascope.comptime.print_locals()
    return x + 1


class Observer:
    def inspect_stop(self, ctx: Any) -> None:
        assert isinstance(self, Observer)
        ctx.print_locals()

    @classmethod
    def looks(cls, ctx: Any) -> None:
        assert cls is Observer
        ctx.print_locals()

    def by_its_own(self, x: Any) -> Any:
        comptime(self.inspect_stop)
        return x + 1


WATCHER = Observer()


def by_a_method(x: Any) -> Any:
    comptime(WATCHER.inspect_stop)
    return x + 1


def by_a_class_method(x: Any) -> Any:
    comptime(WATCHER.looks)
    return x + 1


def by_a_lambda_with_defaults(x: Any) -> Any:
    number = 3
    comptime(lambda ctx, n=number, *, tensor=x: print(f"x = {n} {tensor.size(0)}"))
    return x + 1


def by_a_lambda(x: Any) -> Any:
    comptime(lambda ctx: ctx.print_locals(), lambda: print("fallback"))
    return x + 1


def in_a_generator(x: Any) -> Any:
    def numbers() -> Any:
        for _ in range(1):
            comptime.print_locals(stacklevel=0)
            yield x

    return sum(numbers())


@pytest.mark.parametrize(
    "function",
    [
        make_closure(comptime),
        imports_it,
        names_it,
        from_the_package,
        by_a_lambda,
        by_a_lambda_with_defaults,
        by_a_method,
        by_a_class_method,
        WATCHER.by_its_own,
        in_a_generator,
    ],
)
def test_it_may_be_reached_in_any_way(function: Any) -> None:
    graphs: list[int] = []

    def backend(module: Any, _: Any) -> Any:
        graphs.append(len(module.graph.nodes))
        return module.forward

    torch._dynamo.reset()
    counters.clear()
    with contextlib.redirect_stdout(io.StringIO()) as output:
        torch.compile(function, backend=backend, fullgraph=True)(torch.ones(3))
    assert "x = " in output.getvalue()
    assert graphs == [3]


def test_a_library_function_that_calls_it_leaves_no_guard_on_its_module() -> None:
    import sys

    def code(call: str) -> Any:
        module = types.ModuleType("a_library")
        module.__dict__["comptime"] = comptime
        exec(f"def helper(x):\n    {call}\n    return x + 1", module.__dict__)
        sys.modules["a_library"] = module

        def function(x: Any) -> Any:
            return module.helper(x) * 2

        return function

    try:
        plain, plain_code = traces_of(Program(code("pass"), (torch.ones(3),), {}))
        ours, ours_code = traces_of(Program(code("comptime.print_locals()"), (torch.ones(3),), {}))
    finally:
        del sys.modules["a_library"]
    assert plain.guards == ours.guards
    assert plain_code == ours_code


@pytest.mark.parametrize("name", ["print_locals", "print_value_stack", "print_bt", "print_disas"])
def test_a_frame_that_is_not_there_is_said_to_be_missing(name: str) -> None:
    def function(x: Any) -> Any:
        getattr(comptime, name)(stacklevel=3)
        return x + 1

    with pytest.raises(Exception, match="There are no 3 frames above this one"):
        compiled(function, torch.ones(2), fullgraph=True)


def test_a_function_with_free_variables_is_refused_as_pytorchs_does() -> None:
    def function(x: Any) -> Any:
        factor = 2
        comptime(lambda ctx: print(factor))
        return x * factor

    with pytest.raises(Exception, match="free variables"):
        compiled(function, torch.ones(2), fullgraph=True)


def ask_for_unread(ctx: Any) -> None:
    print(ctx.get_local("unread"), ctx.get_local("unread").python_type())


def never_reads(x: Any, unread: Any) -> Any:
    comptime(ask_for_unread)
    return x + 1


def test_an_argument_that_the_code_never_reads_is_there_to_ask_for() -> None:
    assert "7 <class 'int'>" in compiled(never_reads, torch.ones(2), 7)


# ---- what changes the compile


def test_force_static_specialises() -> None:
    def function(x: Any) -> Any:
        n = x.shape[0]
        COMPTIME.force_static(n)
        return x * n

    x = torch.ones(5, 2)
    torch._dynamo.maybe_mark_dynamic(x, 0)
    results = []
    for tool in (pytorchs.comptime, comptime):
        function_ = with_comptime(function, tool)
        torch._dynamo.reset()
        counted: list[int] = []

        def backend(module: Any, _: Any, counted: list[int] = counted) -> Any:
            counted.append(1)
            return module.forward

        run = torch.compile(function_, backend=backend, dynamic=True)
        run(torch.ones(5, 2))
        run(torch.ones(6, 2))
        results.append(len(counted))
    assert results == [2, 2]


def breaks(x: Any) -> Any:
    y = x + 1
    COMPTIME.graph_break()
    return y * 2


def test_graph_break_breaks() -> None:
    results = []
    for tool in (pytorchs.comptime, comptime):
        torch._dynamo.reset()
        counters.clear()
        assert torch.compile(with_comptime(breaks, tool), backend="eager")(torch.ones(2)).tolist() == [4.0, 4.0]
        results.append((dict(counters["stats"]), len(counters["graph_break"])))
    assert results[0] == results[1]
    assert results[1][1] == 1


def test_assert_static_fails_for_a_dynamic_size() -> None:
    def function(x: Any) -> Any:
        n = x.shape[0]
        comptime.assert_static(n)
        return x * n

    with pytest.raises(Exception, match="expected static but got dynamic"):
        compiled(function, torch.ones(5, 2), dynamic=True)


# ---- with a debugger, and without


def stops_here(x: Any) -> Any:
    y = x + 1
    comptime.breakpoint()
    return y


def test_breakpoint_stops_at_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    session = ScriptedSession()
    monkeypatch.setattr(current, "current_session", lambda: session.agent.session)
    with session.attached():
        torch.compile(stops_here, backend="eager")(torch.ones(2))
    line = stops_here.__code__.co_firstlineno + 2
    assert session.places == [f"stops_here [0/0]:{line}"]
    assert session.stops[0].locals["y"] == "f32[2]"


def test_breakpoint_without_a_debugger_is_the_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("builtins.breakpoint", lambda: seen.append(inspect.currentframe().f_back.f_locals["ctx"]))  # type: ignore[union-attr]
    compiled(stops_here, torch.ones(2))
    assert isinstance(seen[0], pytorchs.ComptimeContext)


def test_the_debug_console_says_what_changes_the_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    session = ScriptedSession()
    monkeypatch.setattr(current, "current_session", lambda: session.agent.session)
    with session.attached():
        torch.compile(with_comptime(breaks, comptime), backend="eager")(torch.ones(2))
    said = [output.output for output in session.outputs if "changes what is compiled" in output.output]
    assert said and said[0].startswith("comptime.graph_break")
