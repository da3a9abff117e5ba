"""The stops at which rows are looked for: programs that make torch keep something, each stopped while it does."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from dynascope import compiled_autograd
from dynascope.agent.backward.inspection import BackwardInspection
from dynascope.wire.dap import SourceBreakpoint
from dynascope.wire.to_agent import ExceptionFilter, SetBreakpoints, SetExceptionFilters
from torch import _guards
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.source import LocalSource

from tests.support.backward import scripted_debugger as holding
from tests.support.nonperturbation.stopped import Stopped

Rows = dict[str, Any]
"""Name → `(value, reader of the rows below)`; of a name that several rows have, the first one's."""
Read = Callable[[], Rows]
HERE = str(Path(__file__))


def pattern(text: str) -> re.Pattern[str]:
    """Matches texts that say this, with anything where it has `…`."""
    return re.compile(".*".join(map(re.escape, text.split("…"))), re.DOTALL)


class Names:
    """What a stop shows: `find("Guards › L['x'] › type")` is the text of that row; raises LookupError."""

    def __init__(self, scopes: dict[str, Read]) -> None:
        self._scopes = scopes

    def find(self, path: str) -> str:
        value, (scope, *rest) = "", path.split(" › ")
        if scope not in self._scopes:
            raise LookupError(f"no scope {scope}, only {list(self._scopes)}")
        read = self._scopes[scope]
        for name in rest:
            rows = read()
            found = name if name in rows else next(filter(pattern(name).fullmatch, rows), None)
            if found is None:
                raise LookupError(f"no row {name} in {path}, only {list(rows)}")
            value, read = rows[found]
        return value


def _reader(rows: Callable[[int], list[Any]], reference: int) -> Read:
    def read() -> Rows:
        found: Rows = {}
        for row in rows(reference) if reference else []:
            found.setdefault(row.name, (row.value, _reader(rows, row.variables_reference)))
        return found

    return read


Look = Callable[[Names], None]


def _stopped(inspect_stop: Look, run: Callable[[], Any], line: int | None = None, caught: str | None = None) -> None:
    """Run with a breakpoint at the line of this file, or with this filter on; what fails for the filter is expected."""
    seen: list[Names] = []

    def at_stop(stop: Stopped) -> None:
        scopes = {scope.name: _reader(stop.rows, scope.variables_reference) for scope in stop.scopes()}
        for i, frame in enumerate(stop.frames[1:], 1):
            for scope in stop.scopes(i):
                name = f"{scope.name} of {frame.name.partition(' ')[0]}"
                scopes[name] = _reader(stop.rows, scope.variables_reference)
        seen.append(Names(scopes))
        if len(seen) == 1:
            inspect_stop(seen[0])

    torch._dynamo.reset()
    session = Stopped(at_stop)
    session.agent.install()
    try:
        if caught is not None:
            session.agent.receive(SetExceptionFilters(id=0, filters=[ExceptionFilter(id=1, filter_id=caught)]))
        else:
            asked = [SourceBreakpoint(id=1, line=line or 0)]
            session.agent.receive(SetBreakpoints(id=0, path=HERE, breakpoints=asked))
        with contextlib.suppress(Exception) if caught is not None else contextlib.nullcontext():
            run()
    finally:
        session.agent.uninstall()
        torch._dynamo.reset()
    session.raise_what_failed()
    assert seen, "the program did not stop"


def _line(function: Any) -> int:
    lines, first = inspect.getsourcelines(function)
    return next(first + i for i, text in enumerate(lines) if "#: stop" in text)


# ---- while Dynamo traces


@torch.compiler.nested_compile_region
def region(x: Any) -> Any:
    return torch.relu(x) + 1


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = torch.nn.Linear(4, 4)

    def forward(self, x: Any, scale: Any, mode: Any) -> Any:
        y = self.fc(x) * scale
        y = region(region(y))
        if y.shape[0] > 2:
            y = y + 1
        return helper(y) if mode == "on" else y


def helper(y: Any) -> Any:
    return y * 2  #: stop


def tracing(inspect_stop: Look) -> None:
    """Amid an inlined call of a module with symbolic sizes and a region that is traced once and reused."""
    compiled = torch.compile(Model(), backend="eager", dynamic=True)
    _stopped(inspect_stop, lambda: compiled(torch.ones(3, 4), 2.5, "on"), _line(helper))


def rarely_set(inspect_stop: Look) -> None:
    """The same, with fields set that only DDP, CUDA graphs or a backend at work sets, for as long as the stop lasts."""
    fields = {
        "ddp_optimizer_ctx": _Settings(),
        "fakify_first_call": True,
        "force_unspec_int_unbacked_size_like": True,
        "cudagraph_annotation": "off",
        "aot_graph_name": ["model__0_forward"],
        "params_flat": [torch.ones(2)],
        "params_flat_unwrap_subclasses": [torch.ones(3)],
        "params_unwrapped_to_flat_index": [0],
        "output_strides": [(4, 1)],
    }
    relations = [_guards.DuplicateInputs(LocalSource("x"), LocalSource("y"))]
    of_guards = {"skip_install": True, "aotautograd_guards": relations}

    def set_and_inspect(names: Names) -> None:
        context = _guards.TracingContext.get()
        content = {name: value for name, value in fields.items() if name in vars(context)}
        guard = next(each for each in context.guards_context.dynamo_guards if each.name == "L['x']")
        with contextlib.ExitStack() as stack:
            stack.enter_context(patch.dict(vars(context), content))
            stack.enter_context(patch.dict(vars(context.guards_context), of_guards))
            if hasattr(guard, "_force_dict_keys_match"):
                stack.enter_context(patch.object(guard, "_force_dict_keys_match", True))
            inspect_stop(names)

    tracing(set_and_inspect)


class _Settings:
    def __init__(self) -> None:
        self.curr_bucket = 3


# ---- when the backend fails, behind AOTAutograd


def in_place(x: Any, written: Any, other: Any) -> Any:
    written.mul_(2)
    return x.sum() + other.sum()


def backend_failure(inspect_stop: Look) -> None:
    """In the compiler of the forward: AOTAutograd has taken the graph apart, and two inputs overlap."""

    def fails(_graph: Any, _inputs: Any) -> Any:
        raise NotImplementedError("this backend compiles nothing")

    x, base = torch.ones(3, requires_grad=True), torch.ones(8)
    compiled = torch.compile(in_place, backend=aot_autograd(fw_compiler=fails), dynamic=True)
    _stopped(inspect_stop, lambda: compiled(x, base[:4], base[2:6]), caught="backendFailure")


# ---- while the guards are made


def narrows(x: Any, kind: Any) -> Any:
    return x * 2 if x.shape[0] > 5 and kind == "double" else x


def constraint_violation(inspect_stop: Look) -> None:
    """`mark_dynamic` was not to be had: most guards have their code by then."""
    x = torch.ones(8, 4)
    torch._dynamo.mark_dynamic(x, 0, min=3, max=100)
    compiled = torch.compile(narrows, backend="eager")
    _stopped(inspect_stop, lambda: compiled(x, "double"), caught="specialization")


# ---- where a graph has ended


class Counted:
    def __init__(self) -> None:
        self.calls = 0


def breaks(x: Any, counted: Any) -> Any:
    y = x.sin()
    kept = [y, x.cos()]
    counted.calls += 1
    made = Counted()
    torch._dynamo.graph_break()
    return kept[0] + kept[1] + y, made


def graph_ended(inspect_stop: Look) -> None:
    """At a graph break, with its bytecode there: outputs, a list, an object and an attribute to restore."""
    compiled = torch.compile(breaks, backend="eager")
    _stopped(inspect_stop, lambda: compiled(torch.ones(3), Counted()), caught="codegen")


# ---- in a capture of compiled autograd


def _backward(inspect_stop: Look, breakpoint: str, program: Callable[[], None]) -> None:
    seen: list[Names] = []

    def at_stop(inspection: BackwardInspection) -> None:
        if not seen:
            scopes = inspection.scopes(holding.Scopes(frame_id=inspection.frames[0].id)).scopes

            def rows(reference: int) -> list[Any]:
                return inspection.variables(
                    holding.Variables(id=0, thread_ident=0, variables_reference=reference)
                ).variables

            seen.append(Names({scope.name: _reader(rows, scope.variables_reference) for scope in scopes}))
            inspect_stop(seen[0])

    torch._dynamo.reset()
    compiled_autograd.reset()
    script = holding.Script(reads=False)
    script.at_stop = at_stop
    try:
        with holding.debugging(script, [breakpoint]), compiled_autograd.enable(torch.compile(backend="eager")):
            program()
    finally:
        torch._dynamo.reset()
        compiled_autograd.reset()
    assert seen, "the backward did not stop"


def _compiled_forward() -> None:
    weight = torch.ones(3, 3, requires_grad=True)
    forward = torch.compile(lambda x: (x @ weight).sin(), backend="aot_eager")
    (forward(torch.ones(3, 3)).sum() * 2.0).backward()


def aot_node(inspect_stop: Look) -> None:
    """At the backward of a compiled forward, which is about to be copied into the graph."""
    _backward(inspect_stop, "CompiledFunctionBackward", _compiled_forward)


def behind_aot_node(inspect_stop: Look) -> None:
    """When it has been copied, and compiled autograd is about to run the graph."""
    _backward(inspect_stop, "runtime_wrapper", _compiled_forward)


def _all_kinds() -> None:
    weight = torch.ones(4, requires_grad=True)
    weight.register_hook(lambda grad: grad * 1)
    base = weight * 2.0
    base[1:3].mul_(2)
    with torch.autograd.detect_anomaly(check_nan=True):
        base.sin().sum().backward()


def checking_nans(inspect_stop: Look) -> None:
    """In anomaly mode, behind the last pass: which gradients are to be checked is known."""
    _backward(inspect_stop, "runtime_wrapper", _all_kinds)


STOPS: dict[str, Callable[[Look], None]] = {
    "While Dynamo traces": tracing,
    "While Dynamo traces, where it is set": rarely_set,
    "When the backend fails": backend_failure,
    "When a size cannot stay dynamic": constraint_violation,
    "Where a graph has ended": graph_ended,
    "At the backward of a compiled forward": aot_node,
    "When a captured backward is about to run": behind_aot_node,
    "When one in anomaly mode is about to run": checking_nans,
}
"""By the headings of docs/what-torch-keeps.md."""
