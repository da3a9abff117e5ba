"""Define the interface of the suspension, in which stopped threads wait.

The defaults are those of a program without any other debugger, so that a scripted suspension overrides only `wait`.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

from dynascope.agent.program.threads import native_id
from dynascope.agent.program.user_code import NEVER_TRACED, is_user_code
from dynascope.wire.dap import StackFrame
from dynascope.wire.messages import ResumeCommand, StopReason
from dynascope.wire.to_agent import Configure


class EntryBreakpoint(NamedTuple):
    """A breakpoint at the entry of generated code that begins on this line."""

    id: int
    path: str
    line: int
    condition: str | None


class LinePassed(NamedTuple):
    """The line where a step that leaves a compile began; it ends at the next if uncompiled."""

    path: str
    line: int
    is_in: Callable[[types.CodeType], bool]
    """Whether code is that of the function."""


class SuspensionObserver:
    """Observe suspended threads; by default every method does nothing."""

    def suspend_requested(self) -> None:
        """Observe a request to suspend threads, compiling ones too. Any thread."""

    def stopped_at_runtime(self) -> None:
        """Observe that the current thread stops at run time, where its step ends."""

    def notice(self, text: str) -> None:
        """Show `text` to the user. Any thread."""


class Suspension:
    """Suspend threads. `wait` runs on the stopped one, `post` and `resume` on the channel's."""

    kind: Literal["pydevd", "own loop"] = "own loop"
    needs_acknowledgement = False
    """Whether the adapter must receive a stop before `wait`, because debugpy reports it to the client."""

    ends_steps_at_runtime = False
    """Whether a step that leaves a compile can end in the running program below it."""

    may_stop = True
    """Whether stops can be reported: the client has sent `configurationDone`."""

    just_my_code = True
    observer: SuspensionObserver = SuspensionObserver()

    def observe(self, observer: SuspensionObserver) -> None:
        """Notify `observer` from now on; no thread stops before stops can be reported."""
        self.observer = observer
        self.may_stop = False

    def configure(self, settings: Configure) -> None:
        """Apply the session's settings."""
        self.just_my_code = settings.just_my_code

    def folders_to_skip(self) -> list[str]:
        """Return the files and folders whose Python Dynamo must neither trace nor count."""
        return list(NEVER_TRACED)

    def thread_id(self) -> int:
        """Return the DAP id of the current thread."""
        return threading.get_native_id()

    def prepare(self) -> None:
        """Keep jobs posted from now on for `wait`; called before the stop is reported."""

    def wait(
        self, frames: list[StackFrame], runtime_frame: types.FrameType | None, reason: StopReason
    ) -> ResumeCommand:
        """Block the current thread until it is resumed, and run the jobs posted to it.

        `frames` are the symbolic ones, innermost first; `runtime_frame` is the real frame below them. An exception of a
        job or of a signal handler ends the wait and propagates.
        """
        return "continue"

    def post(self, thread_ident: int, job: Callable[[], None]) -> bool:
        """Run `job` on that waiting thread; return False when it does not wait."""
        return False

    def resume(self, thread_ident: int, command: ResumeCommand) -> bool:
        """Resume only that thread; return False when it does not wait here."""
        return False

    def single_thread(self, thread_id: int) -> int | None:
        """Make the next command for a thread (DAP id) resume only it; return its ident or None."""
        return None

    def is_stopped(self, thread_id: int) -> bool:
        """Whether another debugger has stopped that thread (DAP id), at compile or run time."""
        return False

    def thread(self, thread_id: int) -> threading.Thread | None:
        """Return the thread with this DAP id, or None."""
        return next((thread for thread in threading.enumerate() if native_id(thread) == thread_id), None)

    def release_all(self) -> None:
        """Resume every thread, at the end of the session."""

    def request_pause(self, thread_ident: int | None) -> None:
        """Request that thread (None: all) to stop at the next line that Dynamo traces."""

    def pause_requested(self) -> bool:
        """Whether the current thread has been requested to stop; `wait` fulfils the request."""
        return False

    def compile_begins(self) -> Any:
        """Begin this thread's outermost compile; return a token for `compile_ends`."""
        return None

    def compile_ends(self, token: Any) -> None: ...

    def code_generated(self, generated: types.CodeType, guards: Any) -> None:
        """Keep nothing of `generated` when its guards are dropped."""

    def call_begins(self, files: Iterable[str]) -> Any:
        """Begin a call of functions in `files` by torch; return a token for `call_ends`, or None."""
        return None

    def call_ends(self, token: Any) -> None: ...

    def runtime_steps(self) -> bool:
        """Whether a run-time step is in progress on this thread."""
        return False

    def runtime_steps_in(self) -> bool:
        """Whether a run-time `stepIn` is in progress on this thread, which may end in a compile."""
        return False

    def runtime_steps_over(self) -> types.FrameType | None:
        """Return the frame of the run-time `next` in progress on this thread, or None."""
        return None

    def cancel_runtime_step(self) -> None:
        """Cancel this thread's run-time step, which is over or continues in a compile."""

    def finish_step_at_runtime(self, frame: types.FrameType | None, passed: Sequence[LinePassed] = ()) -> None:
        """End a step that left the compile at the next line of `frame`, a real frame.

        Or after one of the lines that the step has `passed`, where a function that Dynamo skipped runs uncompiled.
        """

    def times_reached(self, path: str, line: int) -> int:
        """Return how often the running program came to a breakpoint on this line."""
        return 0

    def is_user_code(self, path: str) -> bool:
        """Whether steps stop in this file (an absolute real path)."""
        return not self.just_my_code or is_user_code(path)

    def stop_at_entries(self, breakpoints: Sequence[EntryBreakpoint]) -> set[int]:
        """Replace all entry breakpoints; return the ids of refused ones. Any thread."""
        return {breakpoint.id for breakpoint in breakpoints}

    @property
    def follows_children(self) -> bool:
        """Whether a forked child process becomes, or is reported as, a session of its own."""
        return False

    def leave_child(self) -> None:
        """Disable stops in a forked child, which has no adapter that could resume them."""

    def close(self) -> None:
        """Restore everything that was wrapped."""
