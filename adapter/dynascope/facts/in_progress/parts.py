"""Name what a compile is busy with, from torch's phases (`torch._dynamo.utils.dynamo_timed`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_PARTS = (
    ("guards", r"build_guards|precompile_.*_guards|guard_collective"),
    ("other ranks", r"compiler_collective"),
    (
        "kernels",
        r"async_compile\.|compile_file|PyCodeCache\.|CachingAutotuner\.|StaticAutotuner|.*_template_(autotun|precompil)"
        r"|AotCodeCompiler\.|generate_kernel_code|benchmark_|TritonBundler\.|reload_kernel|cutlass_utils|CUTLASS"
        r"|aoti_|cpp_wrapper_compile",
    ),
    (
        "Inductor",
        r"compile_fx|inductor_|fx_codegen_and_compile|_recursive_|pass\.|GraphLowering\.|code_gen$|Scheduler\."
        r"|PythonWrapperCodegen\.|CppWrapper|additional_fake_tensor_prop|CompiledArtifact\.|CacheBase\.|fx\.bucketing",
    ),
    ("AOTAutograd", r"create_aot_dispatcher_function|aot_|AOTAutogradCache|min_cut_|backward\.|entire_backward"),
    ("backend", r"backend_compile|OutputGraph\.call_user_compiler"),
    (
        "Dynamo",
        r"dynamo$|entire_frame_compile|compile_attempt|bytecode_|fullgraph_capture|_compile\.|pgo\.|gc$|insert_deferred",
    ),
)
_PATTERNS = [(part, re.compile(pattern)) for part, pattern in _PARTS]
_PASS = re.compile(r"pass\.(?:(?P<of>\w+)\.)?(?P<name>\w+)$")


def part_of(phases: Iterable[str]) -> str:
    """Return the part of the compiler that the innermost phase is of; "Dynamo" outside of all.

    A phase that is not known counts for the one around it.
    """
    for phase in reversed(list(phases)):
        for part, pattern in _PATTERNS:
            if pattern.match(phase):
                return part
    return "Dynamo"


def by_part(spent: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds in each part of the compiler, the longest first."""
    parts: dict[str, float] = {}
    for phase, seconds in spent.items():
        part = part_of([phase])
        parts[part] = parts.get(part, 0.0) + seconds
    return dict(sorted(parts.items(), key=lambda each: -each[1]))


def pass_name(phase: str) -> str | None:
    """Return the name of a pass over the graph: `remove_noop_ops of post_grad_passes`."""
    found = _PASS.match(phase)
    if found is None:
        return None
    return f"{found['name']} of {found['of']}" if found["of"] else found["name"]
