"""What `stop` and `hook` ask of the place where stopped threads wait.

The defaults are those of a program without any other debugger, so that a scripted suspension overrides `wait` alone.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, NamedTuple

from dynascope.agent.program.user_code import NEVER_TRACED, is_user_code
from dynascope.wire.dap import StackFrame
from dynascope.wire.messages import ResumeCommand, StopReason
from dynascope.wire.to_agent import Configure


class EntryBreakpoint(NamedTuple):
    """Stop where generated code that begins on this line is entered."""

    id: int
    path: str
    line: int
    condition: str | None


class LinePassed(NamedTuple):
    """A step that leaves a compile began on this line: it ends at the next, should the function run uncompiled."""

    path: str
    line: int
    is_in: Callable[[types.CodeType], bool]
    """Whether code is that function."""


class SuspensionObserver:
    """Told of what happens where threads wait; every method does nothing by default."""

    def suspend_requested(self) -> None:
        """Threads are asked to suspend, those that compile too. Any thread."""

    def stopped_at_runtime(self) -> None:
        """The current thread stops at run time: a step that was to end there has ended."""

    def notice(self, text: str) -> None:
        """Show a sentence to the user. Any thread."""


class Suspension:
    """One for each agent. `wait` runs on the stopped thread, `post` and `resume` on the channel's; the rest on any."""

    kind: Literal["pydevd", "own loop"] = "own loop"
    needs_acknowledgement = False
    """Whether the adapter must know of a stop before `wait`, because somebody else reports it to the client."""

    ends_steps_at_runtime = False
    """Whether a step that leaves a compile can end in the running program below it."""

    may_stop = True
    """Whether the client can be told of stops: it has sent `configurationDone`."""

    just_my_code = True
    observer: SuspensionObserver = SuspensionObserver()

    def observe(self, observer: SuspensionObserver) -> None:
        """Tell `observer` from now on; nothing stops before the client can be told of it."""
        self.observer = observer
        self.may_stop = False

    def configure(self, settings: Configure) -> None:
        """Take the session's settings over."""
        self.just_my_code = settings.just_my_code

    def folders_to_skip(self) -> list[str]:
        """Files and folders whose Python Dynamo must neither trace nor count."""
        return list(NEVER_TRACED)

    def thread_id(self) -> int:
        """DAP's id of the current thread."""
        return threading.get_native_id()

    def prepare(self) -> None:
        """The adapter is about to hear of a stop of the current thread: keep what is posted from now on for `wait`."""

    def wait(
        self, frames: list[StackFrame], runtime_frame: types.FrameType | None, reason: StopReason
    ) -> ResumeCommand:
        """Hold the current thread until it is resumed, and run what is posted to it.

        `frames` are the symbolic ones, innermost first; `runtime_frame` is the real frame below them. What a job or the
        handler of a signal raises ends the wait and is raised.
        """
        return "continue"

    def post(self, thread_ident: int, job: Callable[[], None]) -> bool:
        """Run `job` on that waiting thread; False when it does not wait."""
        return False

    def resume(self, thread_ident: int, command: ResumeCommand) -> bool:
        """Let that thread go, and no other; False when it does not wait here."""
        return False

    def single_thread(self, thread_id: int) -> int | None:
        """Have the next command for that thread (DAP's id) resume it alone; its ident, None when it does not wait."""
        return None

    def is_stopped(self, thread_id: int) -> bool:
        """Whether that thread (DAP's id) waits where another debugger holds it, at compile time or at run time."""
        return False

    def release_all(self) -> None:
        """Let every thread go: the session is over."""

    def request_pause(self, thread_ident: int | None) -> None:
        """Ask that thread (None: all) to stop at the next line Dynamo traces."""

    def pause_requested(self) -> bool:
        """Whether the current thread has been asked to stop; `wait` fulfils the request."""
        return False

    def compile_begins(self) -> Any:
        """The outermost compile of this thread begins; returns a token for `compile_ends`."""
        return None

    def compile_ends(self, token: Any) -> None: ...

    def backend_begins(self, files: Collection[str]) -> Any:
        """Amid a compile a backend is called whose functions are in these files; returns a token for `backend_ends`."""
        return None

    def backend_ends(self, token: Any) -> None: ...

    def runtime_steps_in(self) -> bool:
        """Whether a runtime `stepIn` is under way on this thread, so that it may end in a compile."""
        return False

    def runtime_steps_over(self) -> types.FrameType | None:
        """The frame of a runtime `next` that is under way on this thread."""
        return None

    def cancel_runtime_step(self) -> None:
        """The step of this thread is ours now, or over."""

    def finish_step_at_runtime(self, frame: types.FrameType | None, passed: Sequence[LinePassed] = ()) -> None:
        """A step of ours left the compile: end it at the next line of `frame`, a real one.

        Or behind one of the lines that the step has `passed`, where what Dynamo gave up compiling runs as it is.
        """

    def is_user_code(self, path: str) -> bool:
        """Whether steps stop in this file (an absolute real path)."""
        return not self.just_my_code or is_user_code(path)

    def stop_at_entries(self, wanted: Sequence[EntryBreakpoint]) -> set[int]:
        """Stop the running program at these, and at none of those before; any thread. Returns ids of those refused."""
        return {each.id for each in wanted}

    @property
    def follows_children(self) -> bool:
        """Whether a child process that the program forks becomes a session of its own, or is told of as one."""
        return False

    def leave_child(self) -> None:
        """In a forked child: nothing may stop in it that nobody is there to resume."""

    def close(self) -> None:
        """Undo what was wrapped."""
