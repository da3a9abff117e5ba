"""How frames are written in the call stack."""

from __future__ import annotations

import os.path
import types
from typing import Any

from dynascope.agent.internals.compile_context import trace_id
from dynascope.agent.internals.resume import original_code
from dynascope.agent.internals.tracing import code_of, line_of
from dynascope.wire.dap import Source, StackFrame


def frame_name(translator: Any) -> str:
    """`forward [0/1]`, `forward [0/1_2]` in Dynamo's second restart; a resume function is named like its original."""
    return f"{original_code(code_of(translator)).co_name} [{trace_id()}]"


def symbolic_frame(frame_id: int, translator: Any) -> StackFrame:
    """The DAP frame of a function Dynamo traces."""
    source = source_of_code(code_of(translator))
    return StackFrame(id=frame_id, name=frame_name(translator), line=line_of(translator), column=1, source=source)


def runtime_frame(frame_id: int, frame: types.FrameType) -> StackFrame:
    """The DAP frame of a function that runs."""
    line = frame.f_lineno or frame.f_code.co_firstlineno
    source = source_of_code(frame.f_code)
    return StackFrame(id=frame_id, name=frame.f_code.co_name, line=line, column=1, source=source)


def source_of_code(code: types.CodeType) -> Source:
    """The file of a code object; code that has none (`<string>`) has a name only."""
    path = code.co_filename
    if path.startswith("<"):
        return Source(name=path, presentation_hint="deemphasize")
    path = os.path.abspath(path)
    return Source(name=os.path.basename(path), path=path)
