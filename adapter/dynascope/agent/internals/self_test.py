"""Whether this torch has what the hooks need, found without compiling anything."""

from __future__ import annotations

import inspect
import sys
from typing import Any

_NEEDED = {
    "torch._dynamo.output_graph": [
        "OutputGraph.push_tx(self, tx)",
        "OutputGraph.pop_tx(self)",
        "OutputGraph._get_stack_values_to_restore(self, tx, stack_pops)",
        "OutputGraph.codegen_suffix(self, tx, stack_values, cg, log_side_effects)",
        "OutputGraph.codegen_cells(self, tx, cg)",
    ],
    "torch._dynamo.codegen": ["PyCodegen.make_call_generated_code(self, fn_name)"],
    "torch._dynamo.side_effects": [
        "SideEffects.codegen_save_tempvars(self, cg)",
        "SideEffects.codegen_hooks(self, cg)",
        "SideEffects.codegen_update_mutated(self, cg, log_side_effects)",
        "SideEffects._get_modified_vars(self)",
    ],
    "torch._dynamo.symbolic_convert": [
        "InstructionTranslatorBase.starts_line(self, lineno)",
        "InstructionTranslatorBase.create_resume",
    ],
    "torch._dynamo.convert_frame": [
        "CatchErrorsWrapper.__call__(self, frame, cache_entry, frame_state)",
        "trace_frame",
        "output_codes",
    ],
    "torch._dynamo.resume_execution": ["ContinueExecutionCache.generated_code_metadata"],
    "torch._dynamo.trace_rules": ["SKIP_DIRS", "_recompile_re()"],
    "torch._dynamo.comptime": ["builtins"],
    "torch._dynamo.exc": ["RestartAnalysis", "SpeculationRestartAnalysis"],
    "torch.fx.experimental.symbolic_shapes": ["uninteresting_files()"],
}


def missing_hooks() -> list[str]:
    """Names that this torch lacks, or whose parameters are others than the hooks pass.

    A compile of three lines would use up a compile id, move Dynamo's counters and touch the random state, so this looks
    at names and signatures only; the session watches the first real compile and reports hooks that were not called.
    """
    return [
        f"{module}.{entry.partition('(')[0]}"
        for module, entries in _NEEDED.items()
        for entry in entries
        if not _has(sys.modules.get(module), entry)
    ]


def _has(module: Any, entry: str) -> bool:
    name, parenthesis, parameters = entry.partition("(")
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
        if found is None:
            return False
    if not parenthesis:
        return True
    expected = [p for p in parameters.rstrip(")").split(", ") if p]
    return list(inspect.signature(found).parameters) == expected
