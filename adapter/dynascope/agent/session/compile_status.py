"""Which threads are in the compiler now, determined from another thread.

A compile records nothing for this: the state that the hooks have is read on request.
"""

from __future__ import annotations

import sys
import threading
import types
from typing import TYPE_CHECKING, Literal

from dynascope.wire.to_agent import Compiling

if TYPE_CHECKING:
    from dynascope.agent.stops.stops import CompileStops
    from dynascope.agent.tracing.hook import Hook
    from dynascope.agent.tracing.thread_state import ThreadState


def compiles_now(hook: Hook, stops: CompileStops) -> list[Compiling]:
    """Return threads that trace, run a backend, are stopped or wait for Dynamo's lock."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    stopped, running = stops.stopped_threads(), sys._current_frames()
    compiles = []
    for ident, state in hook.threads.items():
        frame = running.get(ident)
        if frame is None or (state.depth == 0 and state.outermost is None):
            continue
        kind = _kind(ident in stopped, state, frame)
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
    is_stopped: bool, state: ThreadState, frame: types.FrameType
) -> Literal["tracing", "backend", "waiting", "stopped"] | None:
    from dynascope.agent.internals.compile.convert_frame import waits_for_compile_lock

    if is_stopped:
        return "stopped"
    if state.outermost is not None:
        return "tracing" if state.backend is None else "backend"
    return "waiting" if waits_for_compile_lock(frame) else None


def _describe(current: Compiling, state: ThreadState) -> None:
    """Add name, place and size of the compile, which runs on, so that any part may vanish."""
    from dynascope.agent.internals.frames import translators
    from dynascope.agent.internals.graph import graph

    outermost = state.outermost
    if outermost is None:
        return
    try:
        current.name = translators.code_of(outermost).co_name
        active = translators.active_translators(outermost)
        innermost = active[-1] if active else outermost
        current.path, current.line = translators.code_of(innermost).co_filename, translators.line_of(innermost)
        current.nodes = graph.size_so_far(translators.output_of(outermost))
    except (AttributeError, IndexError, TypeError):
        return
