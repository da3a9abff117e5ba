"""Build the DAP frames of the call stack."""

from __future__ import annotations

import os.path
import types
from typing import Any

from dynascope.agent.inspection.frames.runtime_frame import RunningFrame
from dynascope.agent.inspection.values.captured_graph_files import captured
from dynascope.agent.internals.compile.compile_context import trace_id
from dynascope.agent.internals.frames.resume import original_code
from dynascope.agent.internals.frames.translators import code_of, line_of
from dynascope.agent.program.source_lines import memory_sources
from dynascope.wire.dap import Source, StackFrame


def frame_name(translator: Any) -> str:
    """Return `forward [0/1]`, or `[0/1_2]` in the second restart, with the original's name."""
    return f"{original_code(code_of(translator)).co_name} [{trace_id()}]"


def symbolic_frame(frame_id: int, translator: Any) -> StackFrame:
    """Return the DAP frame of a function that Dynamo traces."""
    code, line = code_of(translator), line_of(translator)
    origin = captured.origin(code.co_filename, line)
    if origin is None:
        return StackFrame(id=frame_id, name=frame_name(translator), line=line, column=1, source=source_of_code(code))
    # a line of a captured backward, whose file cannot be opened: name the node, and show the line that created it
    name = f"{origin.name} [{trace_id()} NodeCall {origin.index}]"
    if origin.forward is None:
        return StackFrame(id=frame_id, name=name, line=line, column=1, source=source_of_code(code))
    path = os.path.abspath(origin.forward.path)
    source = Source(name=os.path.basename(path), path=path)
    return StackFrame(id=frame_id, name=name, line=origin.forward.line, column=1, source=source)


def runtime_frame(frame_id: int, frame: RunningFrame) -> StackFrame:
    """Return the DAP frame of a running function."""
    line = frame.f_lineno or frame.f_code.co_firstlineno
    source = source_of_code(frame.f_code)
    return StackFrame(id=frame_id, name=frame.f_code.co_name, line=line, column=1, source=source, can_restart=False)


def source_of_code(code: types.CodeType) -> Source:
    """Return the file of a code object."""
    return source_of_path(code.co_filename)


def source_of_path(path: str) -> Source:
    """Return the file of a code's path; only a name where there is none (`<string>`)."""
    reference = memory_sources.reference(path)
    if reference is not None:
        return Source(name=path, path=path, source_reference=reference)
    if path.startswith("<"):
        return Source(name=path, presentation_hint="deemphasize")
    path = os.path.abspath(path)
    return Source(name=os.path.basename(path), path=path)
