"""Sum the time of a compile by part of the compiler, from torch's phases (`torch._dynamo.utils.dynamo_timed`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from dynascope.facts.profile import NO_PARENT, Profile

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


@lru_cache(4096)
def _known_part(phase: str) -> str | None:
    return next((part for part, pattern in _PATTERNS if pattern.match(phase)), None)


def part_of(phases: Iterable[str]) -> str:
    """Return the part of the compiler that the innermost phase is of; "Dynamo" outside of all.

    A phase that is not known counts for the one around it.
    """
    return next((part for phase in reversed(list(phases)) if (part := _known_part(phase))), "Dynamo")


def by_part(spent: Mapping[str, float]) -> dict[str, float]:
    """Return the seconds in each part of the compiler, the longest first."""
    parts: dict[str, float] = {}
    for phase, seconds in spent.items():
        part = part_of([phase])
        parts[part] = parts.get(part, 0.0) + seconds
    return longest_first(parts)


def longest_first(parts: Mapping[str, float]) -> dict[str, float]:
    """Return the parts in the order of their times."""
    return dict(sorted(parts.items(), key=lambda each: -each[1]))


def parts_of(profile: Profile, whole: float = 0.0) -> dict[str, float]:
    """Return the seconds of a profile in each part of the compiler.

    Those of the `whole` compile that are in no phase are Dynamo's.
    """
    own = [phase.seconds for phase in profile.phases]
    kinds: list[str] = []
    for phase in profile.phases:  # a phase comes after the one around it
        around = "Dynamo" if phase.parent == NO_PARENT else kinds[phase.parent]
        kinds.append(_known_part(phase.name) or around)
        if phase.parent != NO_PARENT:
            own[phase.parent] -= phase.seconds
    outside = whole - sum(phase.seconds for phase in profile.phases if phase.parent == NO_PARENT)
    parts = {"Dynamo": outside} if outside > 0.0 else {}
    for part, seconds in zip(kinds, own, strict=True):
        parts[part] = parts.get(part, 0.0) + max(0.0, seconds)
    return parts
