"""Views with thousands of rows: told of in pages, made a page at a time, and no value of them takes long."""

from __future__ import annotations

import gc
import sys
import time
from typing import Any

import pytest
import torch
from dynascope.agent.inspection.stop_inspection import StopInspection
from dynascope.agent.internals.frames.frame_state import named_globals

from tests.support.nonperturbation.stopped import Stopped, stop_in

pytestmark = pytest.mark.second_leg


class Big(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for i in range(3_000):
            self.register_parameter(f"weight_{i}", torch.nn.Parameter(torch.zeros(2, 3)))
        self.register_buffer("mean", torch.zeros(5))
        self.inner = torch.nn.Linear(2, 2)

    def forward(self, x: Any, sizes: Any) -> Any:
        elements = list(range(2_000))
        total = sum(sizes)
        for _ in range(1_000):
            x = x + 1
        return x * total, elements  #: stop


@pytest.mark.second_leg_only
def test_thousands_of_rows_come_in_pages() -> None:
    def inspect_stop(stop: Stopped) -> None:
        scopes = {scope.name: scope for scope in stop.scopes()}
        graph = scopes["Graph"]
        assert (graph.indexed_variables or 0) > 1_000
        page = stop.rows(graph.variables_reference, filter="indexed", start=900, count=100)
        assert len(page) == 100
        assert stop.rows(graph.variables_reference, filter="named") == []
        assert scopes["Locals"].indexed_variables is None  # few: no paging needed
        module = stop.scope("Locals")["self"]
        assert module.named_variables == 0 and (module.indexed_variables or 0) >= 3_002
        first = stop.rows(module.variables_reference, filter="indexed", start=0, count=3)
        assert [(row.name, row.value) for row in first] == [
            ("inner", "Linear module"),
            ("weight_0", "f32[2, 3]"),
            ("weight_1", "f32[2, 3]"),
        ]
        assert stop.evaluate("self.weight_2999", "watch").result == "f32[2, 3]"

    stop_in(Big(), torch.ones(2), [1], inspect_stop=inspect_stop)


@pytest.mark.second_leg_only
@pytest.mark.parametrize("collects", [True, False])
def test_no_garbage_is_collected_while_a_stop_is_read(collects: bool) -> None:
    """A collection that the program is due takes a second where Dynamo has made much."""
    looks: list[str] = []
    seen: list[bool] = []

    def collection(phase: str, info: dict[str, int]) -> None:
        frame = sys._getframe(1)
        while frame is not None:
            looks.extend([phase] if frame.f_code is StopInspection.variables.__code__ else [])
            frame = frame.f_back  # type: ignore[assignment]

    def inspect_stop(stop: Stopped) -> None:
        (gc.enable if collects else gc.disable)()
        gc.callbacks.append(collection)
        thresholds = gc.get_threshold()
        gc.set_threshold(20, 1, 1)
        try:
            page = stop.rows(stop.scope("Locals")["self"].variables_reference, filter="indexed", start=0, count=500)
        finally:
            gc.set_threshold(*thresholds)
            gc.callbacks.remove(collection)
            seen.append(gc.isenabled())
            gc.enable()
        assert len(page) == 500

    stop_in(Big(), torch.ones(2), [1], inspect_stop=inspect_stop)
    assert looks == [] and seen == [collects]


@pytest.mark.second_leg_only
def test_a_sum_of_hundreds_of_symbols_is_described() -> None:
    def inspect_stop(stop: Stopped) -> None:
        begun = time.perf_counter()
        total = stop.scope("Locals")["total"]
        assert total.value.endswith("(Add of 300 parts)") or " = " in total.value or total.value.isdigit()
        assert time.perf_counter() - begun < 5  # a minute for thousands of symbols, when it was printed
        assert (next(s for s in stop.scopes() if s.name == "Shapes")).variables_reference

    stop_in(
        Big(), torch.ones(2), [torch.ones(i + 2).shape[0] for i in range(300)], inspect_stop=inspect_stop, dynamic=True
    )


def test_the_names_that_code_uses_are_found_without_disassembling_it() -> None:
    import dis

    names = "\n".join(f"    g{i % 300} = h{i % 400} + k" for i in range(2_000))
    world: dict[str, Any] = {f"h{i}": i for i in range(400)} | {"k": 1}
    exec(f"def function():\n    global {', '.join(f'g{i}' for i in range(300))}\n{names}", world)
    code = world["function"].__code__

    class Translator:
        f_code, f_globals = code, world | {f"g{i}": 0 for i in range(300)}
        symbolic_globals: dict[str, Any] = {}  # noqa: RUF012

    wanted = ("LOAD_GLOBAL", "STORE_GLOBAL")
    expected = list(dict.fromkeys(i.argval for i in dis.get_instructions(code) if i.opname in wanted))
    assert named_globals(Translator()) == expected
