"""List the calls of the current statement that Dynamo may inline, in the order of tracing."""

from __future__ import annotations

import builtins
import linecache
import types
from typing import Any

from dynascope.agent.internals.frames.frame_state import symbolic_locals
from dynascope.agent.internals.frames.instructions import CALLS, described, instructions_of
from dynascope.agent.internals.frames.translators import code_of, globals_of, instruction_index, line_of
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor
from dynascope.agent.internals.variables.variables import class_names, without_lazy
from dynascope.agent.program.source_lines import lines_with_code
from dynascope.wire.dap import StepInTarget

_LABEL_LIMIT = 60
_NEVER_INLINED = frozenset({"TensorVariable", "TorchInGraphFunctionVariable", "SymNodeVariable", "ConstantVariable"})


def step_in_targets(translator: Any) -> list[StepInTarget]:
    """Return the targets; the id of each is the index of its call in the frame's instructions."""
    current, code = max(instruction_index(translator), 0), code_of(translator)
    rows = described(instructions_of(translator))
    first, last = _statement(code.co_filename, line_of(translator))
    targets = []
    for index in range(current, len(rows)):
        row = rows[index]
        if row.line is not None and not first <= row.line <= last:
            break
        if row.opname not in CALLS or row.line is None or row.column is None or row.end_column is None:
            continue
        text = _source(code.co_filename, row.line, row.column, row.end_line or row.line, row.end_column)
        callee = _callee(text)
        if _may_be_inlined(translator, callee):
            targets.append(
                StepInTarget(
                    id=index,
                    label=_short(text) or f"call at column {row.column + 1}",
                    line=row.line,
                    column=row.column + 1,
                    end_line=row.end_line,
                    end_column=row.end_column + 1,
                )
            )
    return targets


def _statement(path: str, line: int) -> tuple[int, int]:
    """Return the first and last line of the simple statement around `line`."""
    code_lines = lines_with_code(path)
    around = [(a, b) for a, b in code_lines.statements if a <= line <= b] if code_lines is not None else []
    return max(around, default=(line, line))


def _source(path: str, line: int, column: int, end_line: int, end_column: int) -> str:
    """Return the text between two places; columns count UTF-8 bytes from 0."""
    lines = [text.encode() for text in linecache.getlines(path)[line - 1 : end_line]]
    if not lines:
        return ""
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    return b" ".join(line.strip() for line in lines).decode(errors="replace")


def _callee(call: str) -> str:
    """Return `self.norm` for `self.norm(x)`; "" when the callee is not a dotted name."""
    name = call.partition("(")[0].strip()
    return name if name.replace(".", "").replace("_", "").isalnum() else ""


def _short(call: str) -> str:
    return call if len(call) <= _LABEL_LIMIT else call[: _LABEL_LIMIT - 1] + "…"


def _has_no_python(variable: object) -> bool:
    """Whether Dynamo itself handles this variable's methods: tensors, sizes and constants."""
    realized, cache = without_lazy(variable)
    if realized is None:
        return is_tensor(vars(cache).get("value"))
    return not _NEVER_INLINED.isdisjoint(class_names(realized))


def _may_be_inlined(translator: Any, callee: str) -> bool:
    """Whether Dynamo may inline the call: not built-in functions, operators or tensor methods."""
    if not callee:
        return True
    root, *rest = callee.split(".")
    variable = symbolic_locals(translator).get(root)
    if variable is not None:
        return not (rest and _has_no_python(variable))
    names = globals_of(translator)
    target: Any = names[root] if root in names else vars(builtins).get(root)
    for attribute in rest:
        if not isinstance(target, types.ModuleType):
            return True
        target = target.__dict__.get(attribute)
    return not isinstance(target, types.BuiltinFunctionType | types.MethodDescriptorType)
