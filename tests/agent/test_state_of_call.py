"""Guards are evaluated in the state of torch in which the compiled function was called, whatever the trace has made of
it: inference mode, transforms, modes, grad mode, autocast … And that state is left as the trace had it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.isolation import state_of_call
from torch._C._dynamo.guards import GlobalStateGuard
from torch._dynamo.utils import counters
from torch._dynamo.variables.torch_function import torch_function_mode_stack_state_mgr

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels, load, one_in
from tests.support.nonperturbation.capture import Traces, guards_and_bytecode

pytestmark = pytest.mark.second_leg

PATH = PROGRAMS / "traced" / "states.py"
LABELS = labels(PATH)
STATES = load(PATH)
FUNCTIONS = list(STATES.FUNCTIONS)
if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13):
    FUNCTIONS.remove("deterministic")  # the graph breaks there
CASES = [(function, "nothing") for function in FUNCTIONS] + [
    (function, called_in)
    for called_in in STATES.CALLED_IN
    for function in ("plain", "no_grad", "autocast", "vmap")
    if called_in != "nothing" and (function, called_in) != ("vmap", "dual_level")
]


@pytest.fixture(autouse=True)
def _settings_kept() -> Iterator[None]:
    precision = torch.get_float32_matmul_precision()
    yield
    torch.set_float32_matmul_precision(precision)


def traces(function: str, called_in: str, observer: contextlib.AbstractContextManager[Any]) -> Traces:
    """Return what the program leaves behind."""
    found = Traces()
    torch._dynamo.reset()
    counters.clear()
    with guards_and_bytecode(found), observer:
        found.output = str(STATES.main(function, called_in))
    found.counters = repr({name: dict(counted) for name, counted in sorted(counters.items())})
    return found


def state() -> list[Any]:
    """Return all of the state that guards read, on this thread."""
    now = state_of_call._TorchState()
    keys = torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()
    of_torch = torch._C._functorch.maybe_current_level(), GlobalStateGuard().__getstate__()
    aside = torch_function_mode_stack_state_mgr.stack
    return [now.settings, now.is_inference, now.function_modes, list(aside), *map(str, keys), *of_torch]


@pytest.mark.second_leg_only
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "called_in"), one_in(12, CASES), ids=map("-in-".join, CASES))
def test_the_size_is_told_and_the_state_is_left(function: str, called_in: str) -> None:
    told: list[list[str]] = []

    def at_stop(session: ScriptedSession) -> None:
        before = state()
        frame = session.stops[-1].message.symbolic_frames - 1
        told.append([session.type(question, frame) for question in ("why", "guards check", "what if graph break")])
        assert state() == before

    session = ScriptedSession()
    session.break_at(PATH, LABELS.get(function, LABELS["inner"]))
    session.at_stop = at_stop
    traces(function, called_in, contextlib.nullcontext())  # some of torch is imported in the first trace of it
    plain = traces(function, called_in, contextlib.nullcontext())
    assert plain.differences(traces(function, called_in, session.attached())) == [] and plain.guards
    why, check, tried = told[-1]
    assert "\n0/0: x.size()[0] must be 2, and is 4 (" in why
    assert f"{function} [0/0]: this guard fails, after " in check and "size mismatch at index 0. expected 2" in check
    if function in ("jvp", "dual_level"):
        assert "\nnot tried: This function has entered forward-mode AD" in why and tried in why
    else:
        assert "\ntried: with `torch._dynamo.mark_dynamic(x, 0)`, x.size()[0] is dynamic in [2, oo], and the" in why
        assert "Nothing is changed." in tried


def test_outside_of_compiles_nothing_changes() -> None:
    with torch.no_grad(), STATES.FunctionMode():
        before = state()
        with state_of_call.state_of_call(), state_of_call.function_modes_of_call():
            assert state() == before
