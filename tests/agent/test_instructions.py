"""The listing of what Dynamo traces, breakpoints in it, and steps by instruction or into a chosen call."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import pytest
from dynascope.agent.inspection import disassembly
from dynascope.wire.dap import (
    Breakpoint,
    BreakpointLocationsBody,
    BreakpointsBody,
    DisassembleBody,
    DisassembledInstruction,
    InstructionBreakpoint,
    StepInTarget,
    StepInTargetsBody,
)
from dynascope.wire.messages import ResumeCommand
from dynascope.wire.to_agent import (
    Disassemble,
    FindBreakpointLocations,
    FindStepInTargets,
    PrepareStep,
    SetInstructionBreakpoints,
)

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import PROGRAMS, labels, load

pytestmark = pytest.mark.second_leg

PATH = PROGRAMS / "traced" / "instructions.py"
LABELS = labels(PATH)
NAMES = {line: label for label, line in LABELS.items()}


class Inspecting(ScriptedSession):
    """`looks` are called one per stop."""

    def __init__(self, *looks: Callable[[Inspecting], None], commands: list[ResumeCommand] | None = None) -> None:
        super().__init__(commands or ())
        self.looks = list(looks)
        self.at_stop = self._look  # type: ignore[assignment]

    def _look(self, session: Inspecting) -> None:
        if self.looks:
            self.looks.pop(0)(self)

    @property
    def address(self) -> str:
        reference = self.stops[-1].frames[0].instruction_pointer_reference
        assert reference is not None
        return reference

    def listing(self, first: int, count: int, reference: str | None = None) -> list[DisassembledInstruction]:
        request = Disassemble(
            id=10, memory_reference=reference or self.address, instruction_offset=first, instruction_count=count
        )
        body: DisassembleBody = self.ask(request, DisassembleBody)
        return body.instructions

    def whole(self) -> list[DisassembledInstruction]:
        return [row for row in self.listing(-100, 300) if row.presentation_hint != "invalid"]

    def stop_at(self, *asked: DisassembledInstruction, **more: Any) -> list[Breakpoint]:
        made = [
            InstructionBreakpoint(id=200 + n, instruction_reference=row.address, **more) for n, row in enumerate(asked)
        ]
        body: BreakpointsBody = self.ask(SetInstructionBreakpoints(id=11, breakpoints=made), BreakpointsBody)
        return body.breakpoints

    def targets(self) -> list[StepInTarget]:
        stop = self.stops[-1]
        request = FindStepInTargets(id=12, thread_ident=stop.message.thread_ident, frame_id=stop.frames[0].id)
        body: StepInTargetsBody = self.ask(request, StepInTargetsBody)
        return body.targets

    def prepare_step(self, **how: Any) -> None:
        self.ask(PrepareStep(id=13, thread_ident=self.stops[-1].message.thread_ident, **how), dict)

    def run(self, main: str = "main") -> list[str]:
        """Labels of the lines of all stops."""
        program = load(PROGRAMS / "traced" / "instructions.py")
        with self.attached():
            getattr(program, main)()
        return [NAMES[stop.frames[0].line] for stop in self.stops]


def at(rows: list[DisassembledInstruction], label: str, opname: str = "") -> DisassembledInstruction:
    return next(row for row in rows if row.line == LABELS[label] and row.instruction.startswith(opname))


def test_the_listing_is_what_dynamo_traces() -> None:
    seen: dict[str, Any] = {}

    def inspect_stop(session: Inspecting) -> None:
        seen["current"], seen["rows"] = session.address, session.whole()
        seen["padded"] = session.listing(-3, 5, seen["rows"][0].address)
        seen["bytes"] = session.listing(0, 1, hex(int(seen["rows"][0].address, 0) + 4))

    session = Inspecting(inspect_stop)
    session.break_at(PATH, LABELS["calls"])
    session.run()
    rows: list[DisassembledInstruction] = seen["rows"]
    assert len({row.address for row in rows}) == len(rows)
    current = next(row for row in rows if row.address == seen["current"])
    assert current.line == LABELS["calls"] and current.symbol == "fn"
    assert rows[0].location is not None and rows[0].location.path == str(PATH)
    assert all(row.location is None for row in rows[1:])
    load_global = at(rows, "calls", "LOAD_GLOBAL")
    assert "shift" in load_global.instruction and "; +" in load_global.instruction
    jump = at(rows, "loop", "FOR_ITER")
    target = jump.instruction.split(" to ")[1].split()[0]
    assert target in {row.address for row in rows}
    returned = next(row for row in rows if row.line == LABELS["last"] and row.instruction.startswith("RETURN"))
    assert returned.instruction.endswith("-1 → 0")
    assert [row.presentation_hint for row in seen["padded"]] == ["invalid"] * 3 + [None] * 2
    assert seen["padded"][3].address == rows[0].address and seen["padded"][3].location is not None
    assert seen["bytes"][0].address == rows[2].address


def test_an_instruction_breakpoint_stops_in_each_compile() -> None:
    answers: list[Breakpoint] = []

    def inspect_stop(session: Inspecting) -> None:
        answers.extend(session.stop_at(at(session.whole(), "calls", "STORE_FAST")))
        session.break_at(PATH)

    session = Inspecting(inspect_stop)
    session.break_at(PATH, LABELS["calls"])
    assert session.run("main_twice") == ["calls", "calls", "calls"]
    assert answers[0].verified and answers[0].line == LABELS["calls"]
    assert [stop.message.reason for stop in session.stops] == ["breakpoint", *["instruction breakpoint"] * 2]
    assert session.stops[1].message.hit_breakpoint_ids == [200]
    assert {stop.frames[0].instruction_pointer_reference for stop in session.stops[1:]} == {
        answers[0].instruction_reference
    }
    assert session.stops[2].frames[0].name == "fn [0/1]"


def test_an_instruction_breakpoint_stops_in_the_resume_function() -> None:
    def inspect_stop(session: Inspecting) -> None:
        session.stop_at(at(session.whole(), "loop_body", "BINARY_OP"))
        session.break_at(PATH)

    session = Inspecting(inspect_stop)
    session.break_at(PATH, LABELS["calls"])
    assert session.run() == ["calls", "loop_body", "loop_body"]
    assert session.stops[1].frames[0].name == "fn [1/0]"
    assert session.stops[1].message.hit_breakpoint_ids == [200]


def test_conditions_and_hit_conditions_of_instruction_breakpoints() -> None:
    def never(session: Inspecting) -> None:
        session.stop_at(at(session.whole(), "calls", "STORE_FAST"), condition="x.shape[0] == 9")

    def second(session: Inspecting) -> None:
        session.stop_at(at(session.whole(), "loop_body", "BINARY_OP"), hit_condition="2")

    session = Inspecting(never)
    session.break_at(PATH, LABELS["calls"])
    assert session.run() == ["calls"]
    session = Inspecting(second)
    session.break_at(PATH, LABELS["calls"])
    assert session.run() == ["calls", "loop_body"]


@pytest.mark.second_leg_only
def test_an_address_where_nothing_is_is_refused_with_the_reason() -> None:
    answers: list[Breakpoint] = []

    def inspect_stop(session: Inspecting) -> None:
        rows = session.whole()
        made = [
            InstructionBreakpoint(id=1, instruction_reference="0x10"),
            InstructionBreakpoint(id=2, instruction_reference="main"),
            InstructionBreakpoint(id=3, instruction_reference=rows[0].address, offset=1),
            InstructionBreakpoint(id=4, instruction_reference=rows[0].address, condition="if"),
            InstructionBreakpoint(id=5, instruction_reference=rows[0].address),
        ]
        body: BreakpointsBody = session.ask(SetInstructionBreakpoints(id=11, breakpoints=made), BreakpointsBody)
        answers.extend(body.breakpoints)

    session = Inspecting(inspect_stop)
    session.break_at(PATH, LABELS["calls"])
    session.run()
    assert [answer.verified for answer in answers] == [False] * 4 + [True]
    assert all(answer.reason == "failed" and answer.message for answer in answers[:4])
    assert (answers[4].message or "").startswith("Moved past") and answers[4].line == LABELS["calls"]


def test_steps_by_instruction_in_into_and_out() -> None:
    def by_instruction(session: Inspecting) -> None:
        session.prepare_step(granularity="instruction")

    count = 40
    session = Inspecting(*[by_instruction] * count, commands=["stepIn"] * count)
    session.break_at(PATH, LABELS["calls"])
    session.run()
    walked = [(stop.frames[0].name, stop.frames[0].instruction_pointer_reference) for stop in session.stops]
    assert len(walked) == count + 1
    names = [name.split()[0] for name, _ in walked]
    first_in_callee = names.index("double")
    assert {"fn", "double", "shift"} <= set(names)
    at_call = walked[first_in_callee - 1]
    back = next(one for one in walked[first_in_callee:] if one[0] == at_call[0])
    assert int(back[1] or "", 0) == int(at_call[1] or "", 0) + 2


def test_next_by_instruction_passes_over_calls_and_the_graph_break() -> None:
    def by_instruction(session: Inspecting) -> None:
        session.prepare_step(granularity="instruction")

    session = Inspecting(*[by_instruction] * 60, commands=["next"] * 60)
    session.break_at(PATH, LABELS["graph_break"])
    session.run()
    assert {stop.frames[0].name for stop in session.stops} == {"fn [0/0]", "fn [1/0]"}
    assert "loop_body" in [NAMES[stop.frames[0].line] for stop in session.stops]


@pytest.mark.parametrize(("chosen", "line"), [(0, "double"), (1, "shift")])
def test_step_into_a_chosen_call(chosen: int, line: str) -> None:
    labels_seen: list[str] = []

    def inspect_stop(session: Inspecting) -> None:
        targets = session.targets()
        labels_seen.extend(target.label for target in targets)
        session.prepare_step(target_id=targets[chosen].id)

    session = Inspecting(inspect_stop, commands=["stepIn"])
    session.break_at(PATH, LABELS["calls"])
    assert session.run()[1] == line
    assert labels_seen == ["double(x.abs())", "shift(double(x.abs()), by)"]


def test_calls_of_a_statement_over_several_lines_without_those_that_are_never_inlined() -> None:
    seen: list[StepInTarget] = []

    def inspect_stop(session: Inspecting) -> None:
        seen.extend(session.targets())
        session.prepare_step(target_id=seen[-1].id)

    session = Inspecting(inspect_stop, commands=["stepIn"])
    session.break_at(PATH, LABELS["statement"])
    assert session.run()[1] == "shift"
    assert [target.label.split("(")[0] for target in seen if "relu" not in target.label.split("(")[0]][-1] == "shift"
    assert not [target for target in seen if target.label.startswith(("len(", "torch.relu("))]


def test_breakpoint_locations_need_no_import() -> None:
    session = ScriptedSession()
    body: BreakpointLocationsBody = session.ask(
        FindBreakpointLocations(id=1, path=str(PATH), line=1, end_line=LABELS["shift"]), BreakpointLocationsBody
    )
    lines = [each.line for each in body.breakpoints]
    assert LABELS["double"] in lines and LABELS["shift"] in lines and 2 not in lines


def test_a_listing_goes_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its constants are the program's."""
    codes = [compile("1", "program.py", "exec")]
    monkeypatch.setattr(disassembly.translators, "code_of", lambda translator: codes[0])
    monkeypatch.setattr(disassembly.bytecode, "instructions_of", lambda translator: ("instruction",))
    listings = disassembly.Listings()
    address = listings.of(None).address(0)  # type: ignore[arg-type]
    listing = weakref.ref(listings.of(None))  # type: ignore[arg-type]
    assert listings.find(hex(address))[0] is listing()
    codes.clear()
    assert listing() is None
    with pytest.raises(disassembly.BadAddress):
        listings.find(hex(address))
