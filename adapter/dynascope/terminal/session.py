"""The state of a prompt: the program, its breakpoints, the selected thread and frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from dynascope.terminal.attached import Attached
from dynascope.terminal.breakpoints import Breakpoints, Catching, UserBreakpoint
from dynascope.terminal.client import CommandError, RequestRefused
from dynascope.terminal.debuggee import Debuggee, StepCommand, answers, capabilities_of_adapter, still_stopped
from dynascope.terminal.interrupts import Interrupts, deferred
from dynascope.terminal.job import TOGETHER_IN_LIST, Job
from dynascope.terminal.locations import Group, lines_of_function
from dynascope.terminal.printing import Printer
from dynascope.terminal.program import DebuggedProgram
from dynascope.terminal.selection import Selection
from dynascope.wire.dap import (
    Breakpoint,
    ExceptionBreakpointsFilter,
    ExceptionInfo,
    StackTraceBody,
    Stopped,
    ThreadsBody,
)

Body = TypeVar("Body")
CONTEXT = 4
"""The number of source lines shown before and after the current one."""
ALONE_TELLS_AFTER = 2.0
"""Seconds of waiting for what was resumed alone after which `ALONE_RUNS` is printed."""
LIST_WAITS = 60.0
"""Seconds after which a list of commands goes on with another rank, where one was resumed alone and has not stopped."""
RUNS_ON = "{} runs on: it may wait for a rank that is stopped"
ALONE_RUNS = "waiting for {} alone: Ctrl-C stops it; a second Ctrl-C shows another that is still stopped"


class StartFailed(CommandError):
    """The program could not be started; another attempt would fail too."""


class _StillRunning(Exception):
    """The user has stopped waiting for a program that runs."""


class TerminalSession(Selection):
    """Serve one prompt, for all runs of the program."""

    def __init__(self, program: DebuggedProgram, printer: Printer, interactive: bool, share_stdin: bool = True) -> None:
        """Let Ctrl-C pause the program if `interactive`; else it ends everything."""
        super().__init__(program)
        self.printer = printer
        self.interactive = interactive
        self.breakpoints = Breakpoints()
        self.catching = Catching()
        self.leaving = False
        self.exit_code = 0
        self.listed: int | None = None
        """The last line that `list` showed; the next `list` continues after it."""
        self._share_stdin = share_stdin

    # ---- running

    @property
    def alive(self) -> bool:
        """Whether the program has been started and has not ended."""
        return self.debuggee is not None and not self.debuggee.ended

    def start(self) -> None:
        """Run the program from its beginning to its first stop or its end. Raises StartFailed."""
        self.close()
        try:
            self.debuggee = self._kind_of_debuggee()(
                self.program,
                self.breakpoints,
                self.printer.output,
                self._breakpoint_changed,
                share_stdin=self._share_stdin,
            )
            if isinstance(self.debuggee, Job) and not self.interactive:
                self.debuggee.together = TOGETHER_IN_LIST
            refused = self.debuggee.start(self.catching)
            for name, why in refused.items():
                self.printer.error(f"{name}: {why}")
            for breakpoint in self.breakpoints:
                if breakpoint.location.path and breakpoint.place != str(breakpoint.location):  # it has moved
                    self.printer.say(str(breakpoint))
        except KeyboardInterrupt:
            self.close()
            raise
        except RequestRefused as error:
            self.close()
            self.exit_code = 1
            failed = (
                f"cannot attach to {self.program.name}"
                if self.program.ran_before
                else f"{self.program.name} did not start"
            )
            raise StartFailed(f"{failed}: {error}") from error
        with deferred() as interrupts:
            self.follow(interrupts)

    def _kind_of_debuggee(self) -> type[Debuggee]:
        return Attached if self.program.ran_before else Job if self.program.is_job else Debuggee

    def resume(self, command: StepCommand, how: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Resume the program until its next stop or end. Raises CommandError.

        `how` are more arguments of the step."""
        debuggee = self.need_program()
        with deferred() as interrupts:
            if self.stop is not None:
                is_alone = how.get("singleThread") or debuggee.steps_alone(command, self.stop.thread_id)
                try:
                    debuggee.resume(command, self.stop.thread_id, how)
                except RequestRefused:
                    if debuggee.ended:
                        self.follow(interrupts)
                    raise
                single_thread = self.stop.thread_id if is_alone and self.program.runtime else None
                self._forget_stop()
                self.follow(interrupts, single_thread)
            else:
                self.follow(interrupts)

    def resume_ranks(self, job: Job, command: StepCommand, seconds: float) -> None:
        """Resume all stopped ranks, and wait until each has stopped again. Raises CommandError.

        `seconds` is the longest wait.
        """
        with deferred() as interrupts:
            resumed = job.resume_all(command)
            self._forget_stop()
            try:
                with interrupts.let_through():
                    job.wait_for_all(resumed, seconds)
            except KeyboardInterrupt:
                if not self.interactive:
                    raise
                job.pause()
            self.follow(interrupts)

    def follow(self, interrupts: Interrupts, single_thread: int | None = None) -> None:
        """Wait for the next stop or the end and show it. Ctrl-C pauses; a second one stops waiting.

        If the thread `single_thread` ends, or waits for one that is still stopped, the stopped one is shown.
        """
        try:
            stop = self._next_stop(interrupts, single_thread)
        except _StillRunning:
            quits = "lets it run on" if self.program.ran_before else "ends it"
            self.printer.say(f"still running; `continue` waits again, `quit` {quits}")
            return
        if stop is None:
            self.close()
            self.finished = True
            how = "has ended" if self.program.ran_before else f"ended with exit code {self.exit_code}"
            self.printer.say(f"{self.program.name} {how}", "dim")
        else:
            self._arrive(stop)

    def _next_stop(self, interrupts: Interrupts, single_thread: int | None) -> Stopped | None:
        """Wait for the next stop; None at the end. Raises _StillRunning at the second Ctrl-C."""
        debuggee = self.need_program()
        pausing, patience = False, self._patience(single_thread)
        while True:
            try:
                with interrupts.let_through():
                    stop = debuggee.wait(single_thread, patience)
            except KeyboardInterrupt:
                if not self.interactive:
                    raise
                if pausing:
                    return self._other_stop(debuggee, single_thread)
                pausing, patience = True, None
                debuggee.pause()
                continue
            if stop is None and not debuggee.ended:
                if single_thread in debuggee.exited:
                    stop, single_thread = still_stopped(debuggee, single_thread or 0), None
                elif patience is not None and single_thread is not None:
                    stop = self._tell_of_waiting(debuggee, single_thread)
                patience = None
                if stop is None:
                    continue
            if stop is None or stop.reason != "exception" or stop.text != "SystemExit":
                return stop  # debugpy also stops because of `sys.exit(1)`, which is not an error
            debuggee.go_on(stop.thread_id)

    def _tell_of_waiting(self, debuggee: Debuggee, single_thread: int) -> Stopped | None:
        """Say what is waited for; in a list of commands return the stop of another rank, if any."""
        who = debuggee.named(single_thread)
        if self.interactive:
            self.printer.say(ALONE_RUNS.format(who), "dim")
        elif debuggee.steps_alone("next", single_thread):
            self.printer.say(RUNS_ON.format(who))
            return self._other_stop(debuggee, single_thread)
        return None

    def _patience(self, single_thread: int | None) -> float | None:
        if single_thread is None or not (self.interactive or self.program.is_job):
            return None
        return ALONE_TELLS_AFTER if self.interactive else LIST_WAITS

    def _other_stop(self, debuggee: Debuggee, single_thread: int | None) -> Stopped:
        """Return the stop of another thread. Raises _StillRunning if there is none."""
        stop = still_stopped(debuggee, single_thread) if single_thread is not None else None
        if stop is None:
            raise _StillRunning
        return stop

    def run_to_end(self) -> None:
        """Run the program to its end, through every stop. Raises CommandError.

        One that ran already is left running.
        """
        if self.program.ran_before:
            self.close()
        if self.program.ran_before or (self.debuggee is None and self.finished):
            return
        for breakpoint in self.breakpoints:
            self.breakpoints.remove(breakpoint)
            self.send_breakpoints(breakpoint.location.group)
        self.catching.forget()
        if self.debuggee is None:
            self.start()
        else:
            self.debuggee.set_exception_filters(self.catching)
        while self.debuggee is not None:
            self.resume("continue")

    def close(self) -> None:
        """End the session, and the program unless it ran before; the breakpoints stay."""
        if self.debuggee is not None:
            debuggee, self.debuggee = self.debuggee, None
            ended = debuggee.ended
            debuggee.close()
            # a program that the debugger ended did not fail
            self.exit_code = (debuggee.exit_code or 0) if ended else 0
        self._forget_stop()

    # ---- the selection

    def select_frame(self, index: int) -> None:
        """Select a frame. Raises CommandError at either end of the stack."""
        self.need_frame()
        if not 0 <= index < len(self.frames):
            raise CommandError("oldest frame" if index > 0 else "newest frame")
        self.selected, self.listed = index, None

    def select_thread(self, thread_id: int) -> None:
        """Select a thread. Raises CommandError when there is none of that id, or it runs."""
        debuggee = self.need_program()
        if thread_id not in [thread.id for thread in self.ask("threads", {}, ThreadsBody).threads]:
            raise CommandError(f"there is no thread {thread_id}; `threads` lists them")
        if isinstance(debuggee, Job) and not answers(debuggee, thread_id):
            raise CommandError(f"{debuggee.named(thread_id)} runs")
        stop = debuggee.stops.get(thread_id)
        self._show_stop(stop or Stopped(reason="stopped with the others", thread_id=thread_id))

    # ---- showing

    def show_source(self, first: int, last: int) -> None:
        """Print the lines from `first` to `last` that exist in the selected frame's file."""
        frame = self.need_frame()
        lines = self.source_lines(frame)
        first, last = max(first, 1), min(last, len(lines))
        file = self.current_file
        marked = [
            breakpoint.answer.line if breakpoint.answer and breakpoint.answer.line else breakpoint.location.line
            for breakpoint in (self.breakpoints.in_group(file) if file else ())
        ]
        if file is not None:
            for breakpoint in self.breakpoints.in_group("functions"):
                marked += lines_of_function(file, breakpoint.location.function)
        self.printer.source(lines[first - 1 : last], first, frame.line, marked)
        self.listed = last

    # ---- stops and breakpoints

    def exception_filters(self) -> list[ExceptionBreakpointsFilter]:
        """Return the adapter's filters, even before the program runs. Raises CommandError."""
        capabilities = capabilities_of_adapter() if self.debuggee is None else self.debuggee.capabilities
        return capabilities.exception_breakpoint_filters or []

    def find_watched(self, breakpoint: UserBreakpoint) -> None:
        """Request the data id of `one`, in the selected frame if there is one. Raises CommandError."""
        frame = self.frames[self.selected] if self.frames else None
        if self.debuggee is not None:
            self.debuggee.find_watched(breakpoint, frame.id if frame is not None else None)

    def send_breakpoints(self, group: Group) -> None:
        """Send a group's breakpoints to the adapter after a change. Raises CommandError."""
        if self.debuggee is not None:
            self.debuggee.set_breakpoints(group)

    def _arrive(self, stop: Stopped) -> None:
        hit = self.breakpoints.hit(stop.hit_breakpoint_ids or [])
        for breakpoint in hit:
            breakpoint.hits += 1
            if self.breakpoints.used(breakpoint):
                self.send_breakpoints(breakpoint.location.group)
        self._show_stop(stop, hit)

    def _show_stop(self, stop: Stopped, hit: Sequence[UserBreakpoint] = ()) -> None:
        """Select a stopped thread and show it. Raises CommandError and keeps the old selection."""
        frames = self.ask("stackTrace", {"threadId": stop.thread_id}, StackTraceBody).stack_frames
        self.stop, self.frames, self.selected, self.listed = stop, frames, 0, None
        if self.debuggee is not None and (others := self.debuggee.where_others_are(stop.thread_id)):
            self.printer.say(others, "bold")
        self.printer.stop(stop, frames[0] if frames else None, hit)
        if stop.text and stop.reason in ("data breakpoint", "function breakpoint", "step", "pause"):
            self.printer.say(f"  {stop.text}")
        if stop.reason == "exception":
            headline, *lines = self._exception(stop).splitlines() or ["exception"]
            self.printer.say(f"  {headline}", "bold red")
            for line in lines:
                self.printer.say(f"  {line}")
        if frames:
            self.show_source(frames[0].line - CONTEXT, frames[0].line + CONTEXT)
            self.listed = None

    def _exception(self, stop: Stopped) -> str:
        """Return a text such as `ValueError: no`, from `exceptionInfo` if the adapter answers it."""
        try:
            info = self.ask("exceptionInfo", {"threadId": stop.thread_id}, ExceptionInfo)
        except CommandError:
            return stop.text or stop.description or "exception"
        return f"{info.exception_id}: {info.description}" if info.description else info.exception_id

    def _forget_stop(self) -> None:
        self.stop, self.frames, self.selected, self.listed = None, [], 0, None

    def _breakpoint_changed(self, answer: Breakpoint) -> None:
        """Store a breakpoint's new state, on the reader thread; print it if it was never hit."""
        before = [(breakpoint.place, breakpoint.message) for breakpoint in self.breakpoints.hit([answer.id])]
        breakpoint = self.breakpoints.changed(answer)
        if breakpoint is not None and not breakpoint.has_stopped and before != [(breakpoint.place, breakpoint.message)]:
            self.printer.say(str(breakpoint), "dim")
