"""Which threads are in the compiler now, determined from another thread.

A compile records nothing for this: the state that the hooks have is read on request.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Literal

from dynascope.wire.to_agent import Compiling

if TYPE_CHECKING:
    from dynascope.agent.suspension.stops import CompileStops
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.thread_state import ThreadState


def compiles_now(hook: Hook, stops: CompileStops) -> list[Compiling]:
    """Return threads that trace, run a backend, are stopped or wait for Dynamo's lock."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    # no name for the frames: this function's own is among them, in a cycle of references, and all below it with it
    stopped, running = stops.stopped_threads(), set(sys._current_frames())
    compiles = []
    for ident, state in hook.threads.items():
        if ident not in running or (state.depth == 0 and state.outermost is None):
            continue
        kind = _kind(ident, ident in stopped, state)
        if kind is not None:
            current = Compiling(
                thread_ident=ident,
                thread_id=state.thread_id,
                thread_name=names.get(ident, "?"),
                state=kind,
                backend=state.backend,
            )
            _describe(current, state)
            compiles.append(current)
    return compiles


def _kind(
    ident: int, is_stopped: bool, state: ThreadState
) -> Literal["tracing", "backend", "waiting", "stopped"] | None:
    from dynascope.agent.internals.codegen.generated import waits_for_compile_lock

    if is_stopped:
        return "stopped"
    if state.outermost is not None:
        return "tracing" if state.backend is None else "backend"
    return "waiting" if waits_for_compile_lock(sys._current_frames().get(ident)) else None


def _describe(current: Compiling, state: ThreadState) -> None:
    """Add name, place and size of the compile, which runs on, so that any part may vanish."""
    from dynascope.agent.internals.frames import translators
    from dynascope.agent.internals.frames.resume import frame_name
    from dynascope.agent.internals.graph import graph

    outermost = state.outermost
    if outermost is None:
        return
    try:
        current.name = frame_name(translators.code_of(outermost))
        active = translators.active_translators(outermost)
        innermost = active[-1] if active else outermost
        current.path, current.line = translators.code_of(innermost).co_filename, translators.line_of(innermost)
        current.nodes = graph.size_so_far(translators.output_of(outermost))
    except (AttributeError, IndexError, TypeError):
        return
