"""The compiler's exception filters: where each stops, once, with which frames, and what it says."""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from dynascope.agent.events import wrapping
from dynascope.agent.events.torch_names import all_names
from dynascope.agent.events.wrapping import is_found, owner_of
from dynascope.explain.kinds import FILTERS
from dynascope.wire.to_agent import SetExceptionFilters

from tests.support.agent.scripted_session import ScriptedSession, Stop

pytestmark = pytest.mark.second_leg

X = torch.ones(3)


def inner(x):
    z = x * 2
    torch._dynamo.graph_break()
    return z + 1


def middle(x):
    return inner(x + 1)


def outer(x):
    y = middle(x + 3)
    return y * 2


def branches(x):
    if x.sum() > 0:
        return x * 2
    return x


def calls_branches(x):
    return branches(x + 1) + 1


def prints(x):
    y = x * 2
    print(y.shape)
    return y + 1


def in_a_loop(x):
    for i in range(3):
        x = x + i
        torch._dynamo.graph_break()
    return x


def under_no_grad(x):
    with torch.no_grad():
        y = x + 1
        torch._dynamo.graph_break()
    return y


@contextlib.contextmanager
def own_context():
    yield


def under_own_context(x):
    with own_context():
        y = x + 1
        torch._dynamo.graph_break()
    return y


def in_a_try(x):
    try:
        y = x + 1
        torch._dynamo.graph_break()
    except ValueError:
        pass
    return y + 2


def in_a_comprehension(x):
    parts = [inner(x + i) for i in range(2)]
    return parts[0]


def numbers(x):
    for i in range(2):
        y = x + i
        torch._dynamo.graph_break()
        yield y


def of_a_generator(x):
    return sum(numbers(x * 2))


def of_data(x):
    y = x * 2
    return y + y.sum().item()


def scales(x, n):
    return x * n


def specializes(x):
    if x.shape[0] == 7:
        return x + 1
    return x * 2


def narrows(x):
    y = x * 2
    return y + 1 if x.shape[0] > 5 else y


def calls_narrows(x):
    return narrows(x) * 3


class Adds(torch.nn.Module):
    def forward(self, x, y):
        return x + y


def nothing(x):
    return x


def caught(
    filter_id: str,
    run: Callable[[], Any],
    condition: str | None = None,
    at_stop: Callable[[ScriptedSession], None] = lambda session: None,
) -> list[Stop]:
    session = ScriptedSession()
    session.at_stop = at_stop
    state = session.catch(filter_id, condition)
    assert state.verified, state.message
    with session.attached():
        run()
    for stop in session.stops:
        assert stop.message.reason == "exception"
        assert stop.message.hit_breakpoint_ids == [200]
        assert stop.message.exception is not None
    return session.stops


def compiled(function: Any, *arguments: Any, **options: Any) -> Callable[[], Any]:
    return lambda: torch.compile(function, backend="eager", **options)(*(arguments or (X,)))


def first_compile(stops: list[Stop]) -> list[Stop]:
    return [stop for stop in stops if re.search(r"\[0/0(_\d+)?\]", stop.frames[0].name)]


def names(stop: Stop) -> list[str]:
    return [re.sub(r" \[.*\]", "", frame.name) for frame in stop.frames]


@pytest.mark.parametrize(
    ("function", "frames", "local"),
    [
        (outer, ["inner", "middle", "outer"], "z"),
        (branches, ["branches"], "x"),
        (calls_branches, ["branches", "calls_branches"], "x"),
        (prints, ["prints"], "y"),
        (in_a_loop, ["in_a_loop"], "x"),
        (under_no_grad, ["under_no_grad"], "x"),
        (under_own_context, ["under_own_context"], "x"),
        (in_a_try, ["in_a_try"], "x"),
        (of_data, ["of_data"], "y"),
    ],
)
def test_a_break_stops_once_with_the_frames_that_led_to_it(function: Any, frames: list[str], local: str) -> None:
    stops = first_compile(caught("graphBreak", compiled(function)))
    assert [names(stop) for stop in stops] == [frames]
    assert stops[0].locals[local] == "f32[3]"
    exception = stops[0].message.exception
    assert exception is not None and exception.details is not None
    assert re.fullmatch(r"graph break GB\d{4}", exception.exception_id)
    assert exception.break_mode == "unhandled"
    assert "https://" in exception.description and "Hint: " in exception.description
    assert f"in {frames[0]}\n" in (exception.details.stack_trace or "")


def at_once(x: torch.Tensor) -> torch.Tensor:
    torch._dynamo.graph_break()
    return x + 1


def after_an_operation(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    return y


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (at_once, "No graph ends here, for no operation comes before it; "),
        (after_an_operation, "The graph ends here; "),
    ],
)
def test_whether_a_graph_ends_at_a_break_is_said_as_it_is(function: Any, says: str) -> None:
    stops = first_compile(caught("graphBreak", compiled(function)))
    assert f"\n\n{says}what follows" in stops[0].message.exception.description  # type: ignore[union-attr]


@pytest.mark.parametrize(("function", "innermost"), [(in_a_comprehension, "inner"), (of_a_generator, "numbers")])
def test_a_break_in_a_comprehension_or_generator_stops_once(function: Any, innermost: str) -> None:
    stops = first_compile(caught("graphBreak", compiled(function)))
    assert [(names(stop)[0], names(stop)[-1]) for stop in stops] == [(innermost, function.__name__)]


@pytest.mark.parametrize("function", [outer, calls_branches, in_a_loop])
def test_what_fullgraph_raises_stops_before_it_unwinds(function: Any) -> None:
    def run() -> None:
        with pytest.raises(torch._dynamo.exc.Unsupported):
            compiled(function, fullgraph=True)()

    stops = caught("graphBreak", run)
    assert len(stops) == 1 and names(stops[0])[-1] == function.__name__
    description = stops[0].message.exception.description  # type: ignore[union-attr]
    assert (
        "It is raised as an error: the graph must not break here (fullgraph=True, error_on_graph_break, export, "
        in description
    )


def test_a_break_behind_a_break_stops_in_its_own_compile() -> None:
    stops = caught("graphBreak", compiled(outer))
    assert [stop.frames[0].name for stop in stops] == ["inner [0/0]", "inner [1/0]", "inner [2/0]"]


def test_a_break_in_a_loop_names_both_breaks() -> None:
    exception = caught("graphBreak", compiled(in_a_loop))[0].message.exception
    assert exception is not None and exception.details is not None
    assert exception.exception_id == "graph break GB0025"
    assert "graph break in loop" in exception.description and "runs uncompiled" in exception.description
    assert exception.details.inner_exception


@pytest.mark.second_leg_only
def test_first_chance_stops_where_it_is_raised() -> None:
    stops = first_compile(caught("graphBreak", compiled(outer), "first chance"))
    assert [names(stop) for stop in stops] == [["inner", "middle", "outer"]]
    exception = stops[0].message.exception
    assert exception is not None and exception.break_mode == "always"
    assert "It has just been raised: Dynamo may yet handle it" in exception.description


@pytest.mark.parametrize("function", [in_a_loop, under_own_context])
def test_a_break_that_is_raised_again_in_other_words_has_one_first_chance(function: Any) -> None:
    stops = first_compile(caught("graphBreak", compiled(function), "first chance"))
    exceptions = [stop.message.exception for stop in stops]
    assert [each.exception_id for each in exceptions if each is not None] == ["graph break GB0025"]


def test_the_other_words_stop_where_the_first_did_not() -> None:
    stops = first_compile(caught("graphBreak", compiled(under_own_context), "first chance, GB0066"))
    assert [names(stop) for stop in stops] == [["under_own_context"]]


@pytest.mark.second_leg_only
@pytest.mark.parametrize(
    ("condition", "times"),
    [
        ("GB0025", 1),
        ("gb25, my code", 1),
        ("GB0170", 0),
        ("GB0170, GB0025", 1),
        ("library code", 0),
        ("test_exception_filters.py", 1),
        ("elsewhere.py", 0),
        (f"test_exception_filters.py:{outer.__code__.co_firstlineno + 1}", 1),
        (f"{__file__}:{inner.__code__.co_firstlineno + 2}, z.shape[0] == 3", 1),
        (f"test_exception_filters.py:{inner.__code__.co_firstlineno}", 0),
        ("z.shape[0] == 4", 0),
        ("max(z.shape[0], 4) == 4", 1),
        ("'user-inserted'", 1),
        ("'another text', z.ndim == 1", 0),
        ("committed", 1),
    ],
)
def test_conditions(condition: str, times: int) -> None:
    assert len(first_compile(caught("graphBreak", compiled(outer), condition))) == times


def test_a_condition_without_an_answer_stops_and_says_so_once() -> None:
    session = ScriptedSession()
    session.catch("graphBreak", "no_such_name")
    with session.attached():
        compiled(outer)()
    assert len(session.stops) == 3
    assert len([output for output in session.outputs if "no_such_name" in output.output]) == 1


@pytest.mark.parametrize(
    ("filter_id", "condition", "reason"),
    [
        ("graphBreak", "our code", "neither a term"),
        ("graphBreak", "my code, library code", "exclude each other"),
        ("graphBreak", "GB0025 my code", "neither a term"),
        ("graphBreak", "x > 1, my code", "neither a term"),
        ("recompile", "first chance", "a term of graphBreak"),
        ("recompile", "GB0025", "of graph breaks"),
    ],
)
def test_a_condition_that_means_nothing_fails_in_words(filter_id: str, condition: str, reason: str) -> None:
    state = ScriptedSession().catch(filter_id, condition)
    assert not state.verified and reason in str(state.message)


def test_a_recompile_stops_at_its_first_line_with_the_guard_that_failed() -> None:
    def run() -> None:
        function = torch.compile(scales, backend="eager", dynamic=False)
        for n in (2, 3, 2):
            function(X, n)

    stops = caught("recompile", run)
    assert [stop.where for stop in stops] == [f"scales [0/1]:{scales.__code__.co_firstlineno + 1}"]
    assert stops[0].locals == {"x": "f32[3]", "n": "3"}
    description = stops[0].message.exception.description  # type: ignore[union-attr]
    assert stops[0].message.text == "Recompiled because of n: scales"
    assert description.startswith("Recompiled because of n: scales\n0/0: n == 2; met n: 3 (")


def test_a_recompile_of_the_rest_of_a_line_stops_too() -> None:
    def rest(x):
        return torch._dynamo.graph_break() or x + 1

    def run() -> None:
        function = torch.compile(rest, backend="eager")
        function(torch.ones(3))
        function(torch.ones(3, 4))

    assert "rest [1/1]" in [stop.frames[0].name for stop in caught("recompile", run)]


def test_a_recompile_that_is_an_error_stops_where_the_function_is_called() -> None:
    def run() -> None:
        function = torch.compile(scales, backend="eager", dynamic=False)
        function(X, 2)
        with (
            torch._dynamo.config.patch(error_on_recompile=True),
            pytest.raises(Exception, match="Recompiling function"),
        ):
            function(X, 3)

    stops = caught("recompile", run, "n == 3")
    assert [stop.where for stop in stops] == [f"scales [not compiled]:{scales.__code__.co_firstlineno}"]
    description = stops[0].message.exception.description  # type: ignore[union-attr]
    assert description.startswith("Recompile refused because of n: scales\n0/0: n == 2; met n: 3")
    assert "torch._dynamo.config.error_on_recompile makes it an error." in description


def test_the_recompile_limit_stops_where_nothing_is_traced() -> None:
    def run() -> None:
        function = torch.compile(scales, backend="eager", dynamic=False)
        with torch._dynamo.config.patch(recompile_limit=2):
            for n in range(2, 6):
                function(X, n)

    stops = caught("recompileLimit", run, "n == 4")
    assert [stop.where for stop in stops] == [f"scales [not compiled]:{scales.__code__.co_firstlineno}"]
    assert stops[0].locals["n"] == "4"
    assert stops[0].message.text == "Recompile limit reached because of n: scales runs uncompiled"
    assert "torch._dynamo.config.recompile_limit is 2" in stops[0].message.exception.description  # type: ignore[union-attr]


def test_a_specialisation_stops_at_its_line() -> None:
    stops = caught("specialization", compiled(specializes, torch.ones(7), dynamic=True))
    assert [stop.frames[0].line for stop in stops] == [specializes.__code__.co_firstlineno + 1]
    assert "(x.size()[0]) is fixed to 7" in str(stops[0].message.text)


def test_a_specialisation_of_what_was_marked_dynamic_is_a_violation() -> None:
    def run() -> None:
        x = torch.ones(7)
        torch._dynamo.mark_dynamic(x, 0)
        with pytest.raises(Exception, match="Constraints violated"):
            compiled(specializes, x)()

    stops = caught("specialization", run)
    assert [stop.message.exception.exception_id for stop in stops] == ["constraint violation"]  # type: ignore[union-attr]


def test_a_backend_that_fails_stops_with_the_graph_there() -> None:
    def fails(graph: Any, inputs: Any) -> Any:
        raise ValueError("not today")

    def run() -> None:
        with pytest.raises(torch._dynamo.exc.BackendCompilerFailed):
            torch.compile(scales, backend=fails)(X, 2)

    stops = caught("backendFailure", run)
    assert [names(stop) for stop in stops] == [["scales"]]
    exception = stops[0].message.exception
    assert exception is not None and exception.details is not None and exception.details.inner_exception
    assert exception.exception_id == "ValueError" and "not today" in exception.description
    assert "fails" in str(exception.details.inner_exception[0].stack_trace)


@pytest.mark.parametrize(("function", "reason"), [(nothing, "No ops traced"), (in_a_loop, "graph break in loop")])
def test_a_skipped_frame_stops_with_the_reason(function: Any, reason: str) -> None:
    stops = caught("skippedFrame", compiled(function))
    assert [names(stop) for stop in stops] == [[function.__name__]]
    assert reason in stops[0].message.exception.description  # type: ignore[union-attr]


def test_filters_are_switched_while_it_compiles() -> None:
    def off(session: ScriptedSession) -> None:
        session.agent.receive(SetExceptionFilters(id=9, filters=[]))

    assert len(caught("graphBreak", compiled(outer), at_stop=off)) == 1


def test_no_filter_is_in_dynamo_while_every_filter_is_off() -> None:
    def heard() -> dict[str, object]:
        return {str(name): wrapped.subscribers for name, wrapped in wrapping._wrapped.items() if wrapped.subscribers}

    session, before = ScriptedSession(), heard()  # the runtime of compiled autograd keeps its own
    with session.attached():
        idle = heard()
        for filter_id in FILTERS:
            session.catch(filter_id)
            assert heard() != idle
        session.ask(SetExceptionFilters(id=9, filters=[]), dict)
        assert heard() == idle != before
    assert heard() == before


def test_nothing_of_a_session_stays_in_torch() -> None:
    def found() -> dict[str, object]:
        found = {}
        for name in all_names():
            if name.module in sys.modules and is_found(name):
                owner, attribute = owner_of(name)
                found[f"{name.module}.{name.name}"] = inspect.getattr_static(owner, attribute)
        return found

    before = found()
    session = ScriptedSession()
    with session.attached():
        for filter_id in FILTERS:
            session.catch(filter_id)
        while_attached = found()
        assert sum(while_attached[name] is not each for name, each in before.items()) > 30
    after = found()
    assert [name for name, each in before.items() if after[name] is not each] == []


def asked_to_stay_dynamic(function: Any, size: int, **bounds: int) -> Callable[[], Any]:
    def run() -> None:
        x = torch.ones(size)
        torch._dynamo.mark_dynamic(x, 0, **bounds)
        with pytest.raises((torch.fx.experimental.symbolic_shapes.ConstraintViolationError, RuntimeError)):
            torch.compile(function, backend="eager")(x)

    return run


def test_a_range_that_is_narrowed_stops_with_dynamos_message_and_the_line_that_did_it() -> None:
    (stop,) = caught("specialization", asked_to_stay_dynamic(calls_narrows, 8, min=3, max=100))
    told = stop.message.exception
    line = narrows.__code__.co_firstlineno + 2
    assert told is not None and told.details is not None and told.exception_id == "constraint violation"
    assert names(stop) == ["calls_narrows"]
    assert told.description.startswith("Constraints violated (L['x'].size()[0])!")
    assert "Not all values of" in told.details.message
    assert re.search(
        rf"Decided: s\d+ refined to \[6, 100\] by s\d+ > 5 \(test_exception_filters.py:{line}\)", told.description
    )
    assert f"line {line}, in narrows" in (told.details.stack_trace or "")
    assert told.details.full_type_name.endswith("ConstraintViolationError")


def test_a_condition_may_name_the_line_that_decided() -> None:
    line = narrows.__code__.co_firstlineno + 2
    run = asked_to_stay_dynamic(calls_narrows, 8, min=3, max=100)
    assert len(caught("specialization", run, f"test_exception_filters.py:{line}")) == 1
    assert not caught("specialization", run, f"test_exception_filters.py:{line + 1}")


def test_a_size_out_of_its_range_stops_where_it_is_met() -> None:
    (stop,) = caught("specialization", asked_to_stay_dynamic(calls_narrows, 200, min=3, max=100))
    assert names(stop)[-1] == "calls_narrows" and stop.locals["x"] == "f32[200]"  # torch 2.11 meets it there
    assert "200 not in range [3, 100]" in stop.message.exception.description  # type: ignore[union-attr]


def test_a_violation_that_was_told_of_where_it_was_decided_stops_once() -> None:
    (stop,) = caught("specialization", asked_to_stay_dynamic(specializes, 7))
    assert stop.frames[0].line == specializes.__code__.co_firstlineno + 1
    assert "Dynamo will raise a violation" in stop.message.exception.description  # type: ignore[union-attr]


def test_sizes_that_export_finds_equal_stop() -> None:
    def run() -> None:
        dynamic = ({0: torch.export.Dim("a")}, {0: torch.export.Dim("b")})
        with pytest.raises(torch._dynamo.exc.UserError):
            torch.export.export(Adds(), (torch.ones(4), torch.ones(4)), dynamic_shapes=dynamic, strict=True)

    (stop,) = caught("specialization", run)
    told = stop.message.exception
    assert told is not None and told.details is not None
    assert "must always be equal" in told.description
    assert "in forward\n    return x + y" in (told.details.stack_trace or "")
