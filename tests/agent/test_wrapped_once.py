"""Each name of torch is wrapped once, whoever hears of its calls: the session, its filters and the recording."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from dynascope.agent.events import torch_names, wrapping
from dynascope.agent.events.declared_names import TorchName
from dynascope.agent.events.frames import LineEvents
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.torch_names import all_names
from dynascope.agent.events.wrapping import is_found, owner_of
from dynascope.agent.program.user_code import is_our_code
from dynascope.agent.recorder.recorder import Recorder
from dynascope.explain.kinds import FILTERS
from dynascope.facts.in_progress import Board
from dynascope.wire.dap import BreakpointsBody, DataBreakpoint
from dynascope.wire.to_agent import ExceptionFilter, SetExceptionFilters

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.house import SOURCES, module_name, room, source

_PUT = re.compile(r"\bput\(torch_names\.(\w+)")
_HEARD = re.compile(r"\bcall_(?:before|after|around|instead|on_error)\(\s*torch_names\.(\w+)")


def functions_of(name: TorchName) -> Iterator[Any]:
    """Yield what a name stands for, and each function that it wraps."""
    owner, attribute = owner_of(name)
    function = getattr(owner, attribute)
    function = getattr(function, name.member) if name.member else function
    while function is not None:
        yield function
        function = vars(function).get("__wrapped__") if inspect.isfunction(function) else None


def is_a_wrapper_of_ours(function: Any) -> bool:
    """Whether it is one, and no function that stands where torch has None."""
    wraps = inspect.isfunction(function) and hasattr(function, "__wrapped__")
    return wraps and is_our_code(function.__code__.co_filename)


def times_wrapped() -> dict[TorchName, int]:
    """Return how many functions of ours are around each name of torch, where there is one."""
    ours = {
        name: sum(is_a_wrapper_of_ours(each) for each in functions_of(name)) for name in all_names() if is_found(name)
    }
    return {name: number for name, number in ours.items() if number}


def test_no_name_is_wrapped_twice_by_a_session_and_a_recording() -> None:
    session, before = ScriptedSession(), times_wrapped()  # the runtime of compiled autograd keeps its own
    with ExitStack() as until_the_end:
        recorder = Recorder(lambda facts, trails: None, lambda *what: None, pytest.fail, Board(), True, True)
        until_the_end.callback(recorder.remove)
        until_the_end.enter_context(session.attached())
        filters = [ExceptionFilter(id=each, filter_id=of) for each, of in enumerate(FILTERS)]
        session.ask(SetExceptionFilters(id=5, filters=filters), BreakpointsBody)
        session.watch(DataBreakpoint(id=4, data_id="local::*::*::x", access_type="readWrite"))
        session.break_in("aten.add")
        heard_by = {name: len(wrapped.subscribers) for name, wrapped in wrapping._wrapped.items()}
        number = times_wrapped()
        assert number and not {name.name: times for name, times in number.items() if times != 1}
    assert heard_by[torch_names.PUSH_TX] == 3 and heard_by[torch_names.RECOMPILATION_REASONS] == 4
    assert times_wrapped() == before


@pytest.mark.parametrize("first_removed", [0, 1])
def test_what_is_replaced_twice_is_restored_in_either_order(first_removed: int) -> None:
    """Blocks of `record()` on two threads end in the order in which they come."""
    before = times_wrapped().get(torch_names.STARTS_LINE)
    events = [LineEvents(lambda translator, line: None, HookFailures(pytest.fail)) for _ in range(2)]
    assert times_wrapped()[torch_names.STARTS_LINE] == 2
    events.pop(first_removed).remove()
    events.pop().remove()
    assert times_wrapped().get(torch_names.STARTS_LINE) == before is None


def test_what_one_replaces_no_other_hears_of_and_all_is_heard_in_two_rooms() -> None:
    texts = {path: source(path) for path in SOURCES}
    put = Counter(name for text in texts.values() for name in _PUT.findall(text))
    heard = {name for text in texts.values() for name in _HEARD.findall(text)}
    assert set(put.values()) == {1} and not heard & put.keys()
    assert heard and put
    hearing = {room(module_name(path), "agent") for path, text in texts.items() if _HEARD.search(text)}
    assert hearing == {"events", "speculation"}
