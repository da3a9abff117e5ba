"""Requests that resume, step, pause or list threads and compiles."""

from __future__ import annotations

import os

from dynascope.agent.program.threads import program_threads, running_stack
from dynascope.agent.recorder import process
from dynascope.agent.session.compile_status import compiles_now
from dynascope.agent.session.requests.registry import RequestFailed, serves
from dynascope.agent.session.session import AgentSession
from dynascope.explain.in_progress import OF_LATER, doing
from dynascope.wire.dap import ThreadsBody
from dynascope.wire.to_agent import (
    CompileOn,
    Compiles,
    Compiling,
    IsStopped,
    Pause,
    PrepareStep,
    Resume,
    RunningStack,
    RunningStackBody,
    SingleThread,
    Threads,
)

_NOT_STOPPED = "This thread is not stopped at compile time."
_CANNOT_RESUME_ALONE = "This thread is not stopped, so it cannot be resumed alone."


@serves(Resume)
def resume(session: AgentSession, message: Resume) -> None:
    if not session.suspension.resume(message.thread_ident, message.command):
        raise RequestFailed(_NOT_STOPPED)


@serves(SingleThread)
def single_thread(session: AgentSession, message: SingleThread) -> int:
    ident = session.suspension.single_thread(message.thread_id)
    if ident is None:
        raise RequestFailed(_CANNOT_RESUME_ALONE)
    return ident


@serves(IsStopped)
def is_stopped(session: AgentSession, message: IsStopped) -> bool:
    return session.suspension.is_stopped(message.thread_id)


@serves(RunningStack)
def where_it_runs(session: AgentSession, message: RunningStack) -> RunningStackBody:
    thread = session.suspension.thread(message.thread_id)
    if thread is None:
        return RunningStackBody(thread_name="", frames=[])
    stopped = session.suspension.is_stopped(message.thread_id) or thread.ident in session.stops.stopped_threads()
    return RunningStackBody(thread_name=thread.name, frames=[] if stopped else running_stack(thread))


@serves(PrepareStep)
def prepare_step(session: AgentSession, message: PrepareStep) -> None:
    if not session.stops.prepare_step(message):
        raise RequestFailed(_NOT_STOPPED)


@serves(Pause)
def pause(session: AgentSession, message: Pause) -> dict[str, list[int]]:
    compiling = [] if session.hook is None else session.hook.threads.compiling()
    session.suspension.request_pause(None)
    session.pause_compiles()
    return {"compiling": compiling}


@serves(Threads)
def threads(session: AgentSession, message: Threads) -> ThreadsBody:
    return program_threads()


@serves(Compiles)
def compiles(session: AgentSession, message: Compiles) -> list[Compiling]:
    return [] if session.hook is None else compiles_now(session.hook, session.stops)


@serves(CompileOn)
def compile_on(session: AgentSession, message: CompileOn) -> str:
    thread = session.suspension.thread(message.thread_id)
    shown = process.compile_on(thread.ident) if thread is not None and thread.ident is not None else None
    if shown is None:
        return ""
    compile = shown.compile
    what = doing([name for name, _ in compile.phases], compile.backend, shown.place, os.path.basename)
    return f"{what}, in {OF_LATER if compile.is_later else ''}{compile.function} [{compile.compile_id}]"
