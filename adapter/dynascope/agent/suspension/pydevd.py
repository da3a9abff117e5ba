"""Stop threads inside pydevd, as its Django and Jinja2 debuggers do.

debugpy then reports the stop, resumes it, and serves the real frames below the symbolic ones. No folder but this one
names pydevd. The assumptions were verified on debugpy 1.6.0 to 1.8.22, with sys.settrace (Python 3.11) and
sys.monitoring (3.12).
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal

from dynascope.agent.isolation.containment import is_contained
from dynascope.agent.isolation.unseen import unseen
from dynascope.agent.program.clock import this_threads_clock
from dynascope.agent.program.user_code import is_our_code, is_user_code, real_path
from dynascope.agent.suspension.debugpy import child_processes, tracing_off
from dynascope.agent.suspension.debugpy.breakpoints import EntryBreakpoints, RuntimeLineStops, take_dotted_names
from dynascope.agent.suspension.debugpy.ended_threads import tell_threads_apart
from dynascope.agent.suspension.debugpy.kept import CodeCaches, freeing, leave_nothing_in_frames, logged_in
from dynascope.agent.suspension.debugpy.resuming import Resuming, RuntimeSteps
from dynascope.agent.suspension.debugpy.shown_frames import (
    chain,
    check_hosts,
    hide_our_files,
    hide_paths_from_dynamo,
    hide_unhashable_code,
    name_generated_frames,
)
from dynascope.agent.suspension.debugpy.tracing_off import LibraryImports, TracingOff, correct_running_frames
from dynascope.agent.suspension.debugpy.uninterrupted import uninterrupted
from dynascope.agent.suspension.interface import EntryBreakpoint, LinePassed, Suspension
from dynascope.wire.dap import StackFrame
from dynascope.wire.messages import ResumeCommand, StopReason
from dynascope.wire.to_agent import Configure


class PydevdSuspension(Suspension):
    kind = "pydevd"
    needs_acknowledgement = True
    ends_steps_at_runtime = True

    def __init__(self) -> None:
        """Wrap pydevd; raise, with nothing wrapped, when it cannot host symbolic frames."""
        from _pydev_bundle import pydev_monkey
        from _pydevd_bundle import (
            pydevd_api,
            pydevd_breakpoints,
            pydevd_comm,
            pydevd_comm_constants,
            pydevd_constants,
            pydevd_suspended_frames,
            pydevd_thread_lifecycle,
            pydevd_utils,
            pydevd_vars,
        )
        from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema
        from _pydevd_bundle.pydevd_additional_thread_info import any_thread_stepping, set_additional_thread_info
        from _pydevd_bundle.pydevd_frame_utils import FramesList

        self.debug_dynamo = False
        self._pydevd: Any = pydevd_constants.get_global_debugger()
        self._constants: Any = pydevd_constants
        names = self._commands = pydevd_comm_constants
        self._files: Any = sys.modules["pydevd_file_utils"]
        self._set_trace: Callable[[Any], object] = sys.modules["pydevd_tracing"].SetTrace
        self._anybody_steps: Callable[[], bool] = any_thread_stepping
        self._info_of: Callable[[threading.Thread], Any] = set_additional_thread_info
        self._to_dap_id: Callable[[Any], int] = BaseSchema._translate_id_to_dap
        self._from_dap_id: Callable[[int], str] = BaseSchema._translate_id_from_dap
        self._meaning: dict[int, ResumeCommand] = {
            names.CMD_STEP_INTO: "stepIn",
            names.CMD_STEP_INTO_MY_CODE: "stepIn",
            names.CMD_STEP_OVER: "next",
            names.CMD_STEP_OVER_MY_CODE: "next",
            names.CMD_STEP_RETURN: "stepOut",
            names.CMD_STEP_RETURN_MY_CODE: "stepOut",
        }
        check_hosts(self._pydevd, FramesList(), self._info())
        self._originals: list[tuple[Any, str, Any]] = []
        self._raised: dict[int, BaseException] = {}
        """By thread ident: the exception of a job on that thread, to be raised where it waits."""
        self._waiting: set[int] = set()
        """The idents of threads that stop at compile time."""
        self._tracing = TracingOff(self._pydevd, self._has_breakpoint_in, self._starts_matter)
        imports = LibraryImports(self._pydevd, self._tracing.start_events, self._starts_matter, self._lines_stopped_at)
        self._replace(importlib._bootstrap, tracing_off.NAME, imports.wrapped())
        hide_our_files(self._pydevd, self._replace)
        hide_unhashable_code(self._pydevd, self._replace)
        hide_paths_from_dynamo(self._files, self._replace)
        frames, groups = pydevd_suspended_frames._FrameVariable, pydevd_utils.DAPGrouper
        name_generated_frames(self._pydevd, frames, groups, self._replace)
        trackers = pydevd_suspended_frames._FramesTracker
        leave_nothing_in_frames(self._pydevd, trackers, pydevd_constants.RETURN_VALUES_DICT, self._replace)
        find_thread = pydevd_thread_lifecycle.pydevd_find_thread_by_id
        self._resuming = Resuming(self._pydevd, pydevd_api, pydevd_comm, find_thread, self._replace)
        self._replace(pydev_monkey, "patch_args", child_processes.but_torchs_own(pydev_monkey.patch_args))
        applies, starts_torchs_own = pydev_monkey._get_apply_arg_patching, child_processes.starts_torchs_own
        self._replace(pydev_monkey, "_get_apply_arg_patching", lambda: applies() and not starts_torchs_own())
        step = self._step_over, self.runtime_steps_over
        monitors = getattr(pydevd_constants, "PYDEVD_USE_SYS_MONITORING", False)
        self._steps = RuntimeSteps(self._pydevd, pydevd_api.PyDevdAPI, *step, self._lines_stopped_at, monitors)
        self._check_before_and_after()
        correct_running_frames(self._pydevd, self._replace)
        self._entries = EntryBreakpoints(self._pydevd, pydevd_api.PyDevdAPI)
        self._keep_entries(pydevd_api.PyDevdAPI)
        self._line_stops = RuntimeLineStops(self._pydevd, pydevd_breakpoints.LineBreakpoint, self._steps, self._replace)
        self._replace(self._pydevd, "handle_breakpoint_expression", logged_in("pydev_message"))
        self._replace(pydevd_vars, "evaluate_expression", freeing(pydevd_vars))
        take_dotted_names(self._pydevd, pydevd_api.PyDevdAPI, self._replace)
        self._code_caches = CodeCaches(self._pydevd)
        if monitors:
            from _pydevd_sys_monitoring import pydevd_sys_monitoring

            tell_threads_apart(pydevd_sys_monitoring, self._replace)

    def configure(self, settings: Configure) -> None:
        super().configure(settings)
        self.debug_dynamo = settings.debug_dynamo

    def folders_to_skip(self) -> list[str]:
        """Add debugpy's folder and `dis.py`, which pydevd calls while it traces."""
        files = [getattr(sys.modules.get(name), "__file__", None) for name in ("debugpy", "dis")]
        own = super().folders_to_skip()
        return own + [os.path.dirname(path) if path.endswith("__init__.py") else path for path in files if path]

    # ---- at start

    def _check_before_and_after(self) -> None:
        """Observe pydevd's suspensions, and keep Dynamo from seeing pydevd's Python (3.11)."""
        set_suspend, do_wait_suspend = self._pydevd.set_suspend, self._pydevd.do_wait_suspend

        def watched_set_suspend(*args: Any, **kwargs: Any) -> Any:
            if self._steps.passes() or not self.may_stop or is_contained():
                return None
            try:
                return unseen(set_suspend, *args, **kwargs)
            finally:
                self.observer.suspend_requested()

        def watched_do_wait_suspend(thread: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
            if self._steps.has_passed() or not self.may_stop or is_contained() or self._is_in_dynamo(frame):
                return None
            self._steps.forget()
            self.observer.stopped_at_runtime()
            return unseen(stand_still, thread, frame, *args, **kwargs)

        def stand_still(*args: Any, **kwargs: Any) -> Any:
            with this_threads_clock().standing():
                try:
                    return do_wait_suspend(*args, **kwargs)
                except BaseException:
                    self._wait_interrupted()
                    raise

        self._replace(self._pydevd, "set_suspend", watched_set_suspend)
        self._replace(self._pydevd, "do_wait_suspend", watched_do_wait_suspend)

    def _is_in_dynamo(self, frame: types.FrameType | None) -> bool:
        """Whether a frame is of Dynamo, or called by it, without a function of the program between.

        Suspended there, a thread would keep Dynamo's lock; it stops where its compile begins instead.
        """
        if not self._tracing.is_off or threading.get_ident() in self._waiting:
            return False
        while frame is not None and (
            is_our_code(frame.f_code.co_filename) or not is_user_code(frame.f_code.co_filename)
        ):
            if is_our_code(frame.f_code.co_filename):
                return True  # Dynamo is entered, and calls functions of the program, by wrappers of Dynascope
            frame = frame.f_back
        return False

    def _keep_entries(self, api: Any) -> None:
        """Place the entry breakpoints again whenever pydevd removes all breakpoints of a file."""
        remove_all = api.remove_all_breakpoints

        def remove_all_breakpoints(*args: Any, **kwargs: Any) -> Any:
            try:
                return remove_all(*args, **kwargs)
            finally:
                self._entries.place_again()

        self._replace(api, "remove_all_breakpoints", remove_all_breakpoints)

    def stop_at_entries(self, breakpoints: Sequence[EntryBreakpoint]) -> set[int]:
        return self._entries.place(breakpoints)

    def _replace(self, owner: Any, name: str, value: Any) -> None:
        self._originals.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def close(self) -> None:
        """Restore pydevd, for the next session of this process."""
        while self._originals:
            owner, name, value = self._originals.pop()
            setattr(owner, name, value)

    # ---- one stop

    def _info(self) -> Any:
        return self._info_of(threading.current_thread())

    def thread_id(self) -> int:
        return self._to_dap_id(self._constants.get_current_thread_id(threading.current_thread()))

    def wait(
        self, frames: list[StackFrame], runtime_frame: types.FrameType | None, reason: StopReason
    ) -> ResumeCommand:
        pydevd, thread, info = self._pydevd, threading.current_thread(), self._info()

        def suspend() -> None:
            if info.pydev_state != self._constants.STATE_SUSPEND:  # else a pause or another thread's stop already did
                why = self._commands.CMD_STEP_OVER if reason == "step" else self._commands.CMD_SET_BREAK
                pydevd.set_suspend(thread, why)
            if self.may_stop:
                self._waiting.add(threading.get_ident())
                try:
                    pydevd.do_wait_suspend(thread, chain(frames, runtime_frame), "line", None)
                finally:
                    self._waiting.discard(threading.get_ident())
            else:  # the client has left since
                self._set_step(-1, None)

        uninterrupted(suspend, self._set_trace)
        if (raised := self._raised.pop(threading.get_ident(), None)) is not None:
            raise raised
        if not self.debug_dynamo and not pydevd.pydb_disposed:
            pydevd.disable_tracing()  # waiting turned it on again
        command = self._meaning.get(info.pydev_step_cmd, "continue")
        if command == "continue" and info.pydev_state == self._constants.STATE_SUSPEND:
            return "stepIn"  # suspended again since: stop at the next line
        self.cancel_runtime_step()  # Dynascope serves the step now, pydevd must not step too
        return command

    def post(self, thread_ident: int, job: Callable[[], None]) -> bool:
        thread = threading._active.get(thread_ident)  # type: ignore[attr-defined]
        if thread is None:
            return False

        def run(pydevd: Any) -> None:
            try:
                job()
            except BaseException as error:
                self._raised[thread_ident] = error
                self._wait_interrupted()

        self._pydevd.post_method_as_internal_command(self._constants.get_thread_id(thread), run)
        return True

    def _wait_interrupted(self) -> None:
        """Resume every thread, after a signal handler raised while this thread was stopped."""
        self._set_step(-1, None)
        self._resuming.resume_all()

    def single_thread(self, thread_id: int) -> int | None:
        try:
            return self._resuming.single_thread(self._from_dap_id(thread_id))
        except KeyError:
            return None

    def thread(self, thread_id: int) -> threading.Thread | None:
        try:
            return self._resuming.thread(self._from_dap_id(thread_id))
        except KeyError:
            return None

    def is_stopped(self, thread_id: int) -> bool:
        try:
            return self._resuming.is_stopped(self._from_dap_id(thread_id))
        except KeyError:
            return False

    def resume(self, thread_ident: int, command: ResumeCommand) -> bool:
        """Serve only `continue`: pydevd itself begins steps."""
        thread = threading._active.get(thread_ident)  # type: ignore[attr-defined]
        if thread is not None:
            self._resuming.go_on(self._constants.get_thread_id(thread))
        return thread is not None

    def release_all(self) -> None:
        self.may_stop = False
        self._resuming.resume_all()

    def pause_requested(self) -> bool:
        return bool(self._info().pydev_state == self._constants.STATE_SUSPEND)

    # ---- tracing off while Dynamo traces

    def compile_begins(self) -> Literal[True] | None:
        if self.debug_dynamo or getattr(threading.current_thread(), "pydev_do_not_trace", False):
            return None
        self._tracing.begin()
        return True

    def compile_ends(self, token: Any) -> None:
        notice = self._tracing.trace_generated_code()
        if notice is not None:
            self.observer.notice(notice)
        if token:
            self._tracing.end()

    def code_generated(self, generated: types.CodeType, guards: Any) -> None:
        self._code_caches.drop_with(guards, generated)

    def call_begins(self, files: Iterable[str]) -> Literal[True] | None:
        """Turn tracing on for a call of the user's code, or into a file with a breakpoint."""
        if is_contained() or not (self._pydevd.breakpoints or self._starts_matter()):
            return None
        if not self._tracing.is_off or self._tracing.stays_off:
            return None
        if not any(is_user_code(real_path(path)) or self._lines_stopped_at(path) for path in files):
            return None
        self._tracing.end()
        return True

    def call_ends(self, token: Any) -> None:
        self._tracing.begin()

    def _has_breakpoint_in(self, code: types.CodeType) -> bool:
        lines = self._lines_stopped_at(code.co_filename)
        return bool(lines) and any(line in lines for _, _, line in code.co_lines())

    def _lines_stopped_at(self, path: str) -> Collection[int]:
        name = path.rpartition(os.sep)[2]
        if not is_user_code(path) and not any(each.endswith(name) for each in list(self._pydevd.breakpoints)):
            return ()  # without its real path: to find that of each imported file takes long
        path = self._files.get_abs_path_real_path_and_base_from_file(path)[1]
        lines: Collection[int] = self._pydevd.breakpoints.get(path, ())
        return lines

    def _starts_matter(self) -> bool:
        pydevd = self._pydevd
        return bool(
            pydevd.has_plugin_line_breaks or pydevd.function_breakpoint_name_to_breakpoint or self._anybody_steps()
        )

    # ---- steps that cross between tracing and running

    def runtime_steps_in(self) -> bool:
        return self._steps_by(self._commands.CMD_STEP_INTO, self._commands.CMD_STEP_INTO_MY_CODE)

    def runtime_steps_over(self) -> types.FrameType | None:
        over = self._steps_by(self._commands.CMD_STEP_OVER, self._commands.CMD_STEP_OVER_MY_CODE)
        frame: types.FrameType | None = self._info().pydev_step_stop if over else None
        return frame

    def runtime_steps(self) -> bool:
        info = self._info()
        return bool(info.pydev_state == self._constants.STATE_RUN and info.pydev_step_cmd != -1)

    def _steps_by(self, *commands: int) -> bool:
        info = self._info()  # the step command of a suspended thread is a placeholder
        return info.pydev_state == self._constants.STATE_RUN and info.pydev_step_cmd in commands

    def cancel_runtime_step(self) -> None:
        self._set_step(-1, None)
        self._steps.forget()

    def finish_step_at_runtime(self, frame: types.FrameType | None, passed: Sequence[LinePassed] = ()) -> None:
        if frame is None or self._tracing.stays_off:
            return
        self._step_over(frame)
        self._steps.follow(passed)

    def _step_over(self, frame: types.FrameType) -> None:
        only_user = self._pydevd.get_use_libraries_filter()
        self._set_step(self._commands.CMD_STEP_OVER_MY_CODE if only_user else self._commands.CMD_STEP_OVER, frame)
        self._pydevd.set_trace_for_frame_and_parents(threading.get_ident(), frame)

    def _set_step(self, command: int, frame: types.FrameType | None) -> None:
        info = self._info()
        info.pydev_original_step_cmd = info.pydev_step_cmd = command
        info.pydev_step_stop = frame
        info.pydev_state = self._constants.STATE_RUN
        if hasattr(info, "update_stepping_info"):
            info.update_stepping_info()

    def times_reached(self, path: str, line: int) -> int:
        return self._line_stops.reached[path, line]

    def is_user_code(self, path: str) -> bool:
        pydevd = self._pydevd
        return not pydevd.get_use_libraries_filter() or bool(pydevd._files_filtering.in_project_roots(path))

    @property
    def follows_children(self) -> bool:
        return bool((sys.modules["pydevd"].SetupHolder.setup or {}).get("multiprocess"))  # type: ignore[attr-defined]

    def leave_child(self) -> None:
        """Stop tracing in a child that debugpy does not follow: its first stop would never end."""
        if not self.follows_children or child_processes.starts_torchs_own():
            child_processes.leave(self._pydevd, self._constants)
