"""Record the call for which a function is compiled: the user's line, and the arguments."""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from typing import Any

from dynascope.agent.internals.compile.call import arguments_of, keywords_of
from dynascope.agent.internals.compile.compile_context import dynamic_shapes
from dynascope.agent.program.user_code import is_our_code, is_user_code
from dynascope.agent.recorder.frame import has_file, path_of
from dynascope.facts.model import CompiledCall


def call_of(code: types.CodeType, values: Mapping[str, Any]) -> CompiledCall:
    """Return the call; `values`: the arguments by name. Called where Dynamo begins to compile."""
    arguments = arguments_of(code, values)
    call = CompiledCall(arguments=arguments, dynamic=dynamic_shapes(), keywords=keywords_of(code))
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        path = path_of(frame.f_code)
        if has_file(path) and is_user_code(path) and not is_our_code(path):
            call.path, call.line, call.function = path, frame.f_lineno, frame.f_code.co_qualname
            break
        frame = frame.f_back
    return call
