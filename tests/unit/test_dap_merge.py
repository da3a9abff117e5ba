"""Two halves, one view: breakpoints, stops, stacks and paths, without a program."""

from __future__ import annotations

import msgspec
import pytest
from dynascope.dap.client.breakpoint_table import BreakpointTable, DebugpyBreakpoint, for_debugpy
from dynascope.dap.program.stops import Stops, agents_stack, merged_stack, merged_stopped
from dynascope.dap.protocol.launch_arguments import PathMap, PathMapping
from dynascope.wire.beyond_dap import FIRST_AGENT_ID
from dynascope.wire.dap import Breakpoint, ClientBreakpoint, Source, StackFrame
from dynascope.wire.from_agent import Stopping

SOURCE = Source(path="/a.py")


def stopping(first: int = FIRST_AGENT_ID, thread_id: int = 1, **more: object) -> Stopping:
    frames = [
        StackFrame(id=first + i, name=f"f{i} [0/0]", line=i + 1, column=1, source=Source(path="/remote/a.py"))
        for i in range(2)
    ]
    settings = {
        "thread_ident": 100 + thread_id,
        "thread_id": thread_id,
        "thread_name": "main",
        "reason": "breakpoint",
        "description": "Paused at compile time",
        "frames": frames,
        "symbolic_frames": 2,
        "own_loop": False,
    }
    return Stopping(**(settings | more))  # type: ignore[arg-type]


def test_breakpoints_that_stay_keep_their_ids() -> None:
    table = BreakpointTable()
    first = table.replace_file(SOURCE, [ClientBreakpoint(line=1), ClientBreakpoint(line=5)])
    second = table.replace_file(SOURCE, [ClientBreakpoint(line=5), ClientBreakpoint(line=5), ClientBreakpoint(line=7)])
    assert second[0].id == first[1].id
    assert len({entry.id for entry in second}) == 3
    assert table.get(first[0].id) is None
    table.replace_file(SOURCE, [])
    assert table.files == {} and table.get(second[0].id) is None


@pytest.mark.parametrize(
    ("agent", "debugpy", "verified"),
    [
        (True, True, True),
        (True, False, True),
        (False, True, True),  # a line Dynamo does not trace is hit when it runs
        (False, False, False),
        (None, True, True),
        (None, False, False),
        (True, None, True),
        (False, None, False),
    ],
)
def test_verified_when_some_half_can_hit_it(agent: bool | None, debugpy: bool | None, verified: bool) -> None:
    (entry,) = BreakpointTable().replace_file(SOURCE, [ClientBreakpoint(line=1)])
    entry.agent = None if agent is None else Breakpoint(id=entry.id, verified=agent)
    entry.debugpy = None if debugpy is None else DebugpyBreakpoint(verified=debugpy)
    assert entry.shown().verified is verified


def test_a_line_that_no_half_can_hit_is_not_verified_whatever_debugpy_says() -> None:
    (entry,) = BreakpointTable().replace_file(SOURCE, [ClientBreakpoint(line=1)])
    entry.debugpy = DebugpyBreakpoint(verified=True)
    entry.agent = Breakpoint(id=entry.id, verified=False, reason="failed", message="No code.")
    shown = entry.shown()
    assert not shown.verified and shown.message == "No code." and shown.reason == "failed"


def test_debugpy_gets_the_line_to_which_the_agent_moved_it() -> None:
    (entry,) = BreakpointTable().replace_file(SOURCE, [ClientBreakpoint(line=1, condition="x")])
    entry.agent = Breakpoint(id=entry.id, verified=True, line=3)
    assert for_debugpy(entry) == ClientBreakpoint(line=3, condition="x")
    assert entry.shown().line == 3


def test_ids_of_debugpy_become_ours() -> None:
    table = BreakpointTable()
    (entry,) = table.replace_file(SOURCE, [ClientBreakpoint(line=1)])
    table.told_by_debugpy(entry, DebugpyBreakpoint(verified=True, id=40))
    body = merged_stopped({"threadId": 1, "reason": "breakpoint", "hitBreakpointIds": [40, 41]}, None, table)
    assert body["hitBreakpointIds"] == [entry.id]
    table.forget_program()
    assert table.of_debugpy(40) is None and not entry.shown().verified


def test_a_compile_time_stop_says_so() -> None:
    stop = Stops().add(stopping(hit_breakpoint_ids=[7], text="why"), PathMap(None))
    body = merged_stopped({"threadId": 1, "reason": "pause", "hitBreakpointIds": [3]}, stop, BreakpointTable())
    assert body["reason"] == "breakpoint" and body["description"] == "Paused at compile time"
    assert body["hitBreakpointIds"] == [7] and body["text"] == "why"


def test_the_first_frames_are_the_agents_at_every_page() -> None:
    stop = Stops().add(stopping(), PathMap(None))
    names = ["plugin", "plugin", "caller", "<module>"]
    rows = [{"id": i, "name": name, "line": 1, "column": 1} for i, name in enumerate(names)]

    def page(start: int, levels: int) -> list[str]:
        body = msgspec.Raw(msgspec.json.encode({"stackFrames": rows[start : start + levels], "totalFrames": len(rows)}))
        merged = merged_stack(stop, stop.notice.frames, body, start)
        assert merged.total_frames == 4
        return [msgspec.json.decode(frame)["name"] for frame in merged.stack_frames]

    assert page(0, 4) == ["f0 [0/0]", "f1 [0/0]", "caller", "<module>"]
    assert page(1, 2) == ["f1 [0/0]", "caller"]
    assert page(2, 9) == ["caller", "<module>"]
    assert page(0, 1) == ["f0 [0/0]"]


def test_own_loop_stacks_are_paged() -> None:
    stop = Stops().add(stopping(own_loop=True), PathMap(None))
    assert [frame.name for frame in agents_stack(stop.notice.frames, 1, 1)["stackFrames"]] == ["f1 [0/0]"]
    assert agents_stack(stop.notice.frames, 0, 0)["totalFrames"] == 2


def test_ids_belong_to_the_latest_stop_that_began_below_them() -> None:
    stops = Stops()
    first = stops.add(stopping(FIRST_AGENT_ID, 1), PathMap(None))
    second = stops.add(stopping(FIRST_AGENT_ID + 50, 2), PathMap(None))
    assert stops.of_id(FIRST_AGENT_ID + 10) is first
    assert stops.of_id(FIRST_AGENT_ID + 60) is second
    stops.remove_thread(101)
    assert stops.of_id(FIRST_AGENT_ID + 10) is None and stops.of_thread(1) is None


def test_path_mappings_translate_both_ways() -> None:
    paths = PathMap([PathMapping(local_root="/home/me/src/", remote_root="/app")])
    assert paths.to_program("/home/me/src/x/y.py") == "/app/x/y.py"
    assert paths.to_client("/app/x/y.py") == "/home/me/src/x/y.py"
    assert paths.to_client("/application/y.py") == "/application/y.py"
    assert paths.source_to_client(Source(path="/app/z.py")) == Source(path="/home/me/src/z.py")
    generated = Source(path="/app/z.py", source_reference=3)
    assert paths.source_to_client(generated) is generated
