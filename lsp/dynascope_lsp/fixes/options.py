"""Options of Dynamo's that the hints name: `torch._dynamo.config.capture_scalar_outputs = True`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dynascope_lsp.documents.edits import inserted_after_imports
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.fix import Fix
from dynascope_lsp.recorded.findings import Finding

_OPTION = re.compile(r"torch\._dynamo\.config\.(\w+)\s*=\s*(True|False|\d+)")

BY_TYPE = {
    "Unsupported Tensor.item() call with capture_scalar_outputs=False": "capture_scalar_outputs = True",
    "Dynamic shape operator": "capture_dynamic_output_shape_ops = True",
    "Attempted to wrap RNN, GRU, or LSTM": "allow_rnn = True",
}
"""For types of breaks whose hints do not say it in these words in every version."""


def fixes(text: Text, finding: Finding) -> Iterator[Fix]:
    found = {f"{name} = {value}" for hint in finding.hints for name, value in _OPTION.findall(hint)}
    if finding.type in BY_TYPE:
        found.add(BY_TYPE[finding.type])
    if finding.kind == "recompileLimit":
        found.add("recompile_limit = 32")
    for option in sorted(found):
        line = f"torch._dynamo.config.{option}"
        if line not in text.source and (edits := inserted_after_imports(text, line)):
            yield Fix(f"Set {line}", edits)


def print_fix(text: Text, finding: Finding) -> Iterator[Fix]:
    """Let Dynamo move `print` behind the graph."""
    line = "torch._dynamo.config.reorderable_logging_functions.add(print)"
    if "print" in text.line(finding.line) and line not in text.source and (edits := inserted_after_imports(text, line)):
        yield Fix("Let Dynamo run print() behind the graph (reorderable_logging_functions)", edits)
