"""One run of the debugged program: the base of programs with debugpy and without.

A restart makes a new Program; the client's breakpoints and settings belong to the session and outlive it.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Literal

import msgspec
from msgspec import Raw

from dynascope.dap.agent_channel.agent_connection import AgentConnection
from dynascope.dap.client.client import Client, Progress
from dynascope.dap.log import logger
from dynascope.dap.program.compile_status import SETTLED, CompileProgress, Waiting, compiles
from dynascope.dap.program.process_tree import LaunchedProcesses
from dynascope.dap.program.stops import CompileTimeStop, Stops, capabilities_at, own_stopped
from dynascope.dap.protocol.call import ANSWERED, Answered, Body, Call, NoArguments, RequestError
from dynascope.dap.protocol.connection import Connection
from dynascope.dap.protocol.envelope import Envelope, event
from dynascope.dap.protocol.launch_arguments import AttachArguments, LaunchArguments, PathMap
from dynascope.wire.dap import Source
from dynascope.wire.from_agent import (
    BreakpointChanged,
    CompileBegins,
    ConsoleOutput,
    DynamoReady,
    Invalidated,
    RankJoined,
    Resumed,
    SourcesLoaded,
    Stopping,
)
from dynascope.wire.messages import FromAgent
from dynascope.wire.to_agent import Acknowledge, ConfigurationDone, Configure, Detach

Answer = Callable[[Envelope], None]
"""Sends the response to `launch` or `attach`."""

_RESUME = {"continue", "next", "stepIn", "stepOut", "goto"}
HELLO_TIMEOUT = 20.0
"""Seconds that an agent has to connect once it was started."""


class Program(ABC):
    """The debugged program: its agent, if it has one, and its `LaunchedProcesses`, if it was launched."""

    debugpy: Connection | None = None
    agent: AgentConnection | None = None

    def __init__(
        self,
        client: Client,
        configuration: dict[str, Raw],
        arguments: LaunchArguments | AttachArguments,
        on_ready: Callable[[Program], None],
    ) -> None:
        """Call `on_ready` once, when breakpoints can be set in the program."""
        self.client = client
        self._on_ready = on_ready
        self.configuration = configuration
        self.arguments = arguments
        self.launched = isinstance(arguments, LaunchArguments)
        self.launched_processes = LaunchedProcesses() if self.launched else None
        self.paths = PathMap(arguments.path_mappings)
        self.stops = Stops()
        self._capabilities = {"supportsStepBack": True, "supportsRestartFrame": True}
        """Those that depend on the kind of stop, as the client has them since `initialize`."""
        self.stopped_at_runtime = False
        """Whether debugpy has stopped the program, where no compile is stopped."""
        self._last_stop: CompileTimeStop | None = None
        """The stop at which the agent's channel ended."""
        self.pausing: set[int] = set()
        """The threads (DAP ids) that were to pause and have not stopped or resumed since."""
        self.ready = False
        """Whether the client has got `initialized`."""
        self.configured = False
        self.has_child_sessions = False
        """Whether the client has started sessions for child processes."""
        self.over = False
        """Whether the session has released the program: nothing more may be started."""
        self.quiet = False
        """Whether a restart replaces this program: the client gets no events of its end."""
        self._ended = False
        self._waiting = Waiting(client)
        self._says_who_waits: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    def check_wanted(self) -> None:
        """Raise RequestError if the session is over, before a process is started."""
        if self.over:
            raise RequestError("The session ended before the program was started.")

    # ---- the methods in which the two kinds differ

    @abstractmethod
    async def start(self, answer: Answer) -> None:
        """Launch or attach; `answer` is called with the response once, maybe long after return."""

    @abstractmethod
    async def configuration_done(self, call: Call[NoArguments] | None) -> Body:
        """Let the program run, and answer `call` (None after a restart). Raises RequestError."""

    @abstractmethod
    async def end(self, terminate: bool) -> None:
        """End the program with its children, or leave it running undebugged. Never raises."""

    # ---- the client

    def event(self, name: str, body: object = None) -> None:
        if not self.quiet:
            self.client.send(event(name, body))

    def say(
        self, text: str, category: str = "important", source: Source | None = None, line: int | None = None
    ) -> None:
        """Show a line in the debug console that leads to a `line` of a `source` of the client's."""
        body: dict[str, Any] = {"category": self.client.category(category), "output": f"dynascope: {text}\n"}
        self.event("output", body if source is None or line is None else body | {"source": source, "line": line})

    def pass_to_debugpy(self, call: Call[Any], change: Callable[[Envelope], None] | None = None) -> Answered:
        """Forward a request to debugpy; `change` its response first. Raises RequestError without it."""
        if self.debugpy is None:
            raise RequestError(f"{call.command} needs debugpy, and this session runs without it (`runtime` is false).")

        def answer(response: Envelope) -> None:
            if change is not None:
                change(response)
            self.client.respond(call, response)

        if call.command in _RESUME:
            self.stopped_at_runtime = False
        self.debugpy.forward(call.command, call.raw, answer)
        return ANSWERED

    def report_end(self) -> None:
        """Send the client `terminated`, once."""
        if not self._ended:
            self._ended = True
            self._tell_end_at_stop()
            for entry, sentence in self.client.breakpoints.never_hit() if self.configured else ():
                self.say(sentence, "console", entry.source, entry.line())
            self.event("terminated")

    def _tell_end_at_stop(self) -> None:
        """Tell where the program was stopped when it ended by something other than the session."""
        stop = self._last_stop or next(iter(self.stops.all()), None)
        if self.over or not (stop or self.stopped_at_runtime):
            return
        name = str(msgspec.json.decode(self.configuration.get("name", b'"The program"')))
        source, line = (stop.frames[0].source, stop.frames[0].line) if stop and stop.frames else (None, None)
        place = f" at {source.name}:{line}" if source else ""
        text = f"{name} has ended while it was stopped{place}: it was killed, or it ended with its job."
        if isinstance(self.arguments, AttachArguments) and self.arguments.sub_process_id is not None:
            text += " If it is a rank and another rank has failed, the session that launched the job shows which."
        self.say(text, source=source, line=line)

    def in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run `work` in a task of its own, which is returned; log its failure."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("an internal error", exc_info=error)

    def become_ready(self) -> None:
        """Record that breakpoints can be set, and call `on_ready`."""
        self.ready = True
        self._on_ready(self)

    # ---- the agent

    async def adopt(self, agent: AgentConnection) -> None:
        """Use a connected agent for this program, and configure it. Raises RequestError."""
        self.agent = agent
        agent.pending.say = self.say
        self.in_background(self._read_agent(agent))
        without_debugpy = self.debugpy is None
        is_child = isinstance(self.arguments, AttachArguments) and self.arguments.sub_process_id is not None
        raise_timeouts = self.arguments.raise_timeouts
        request = Configure(
            just_my_code=self.arguments.just_my_code,
            debug_dynamo=self.arguments.debug_dynamo,
            history=self.arguments.history,
            stop_on_entry=without_debugpy and self.arguments.stop_on_entry,
            attached=isinstance(self.arguments, AttachArguments) and not is_child,
            record=self.arguments.record,
            raise_timeouts=False if raise_timeouts is None and not is_child else raise_timeouts,
            compiled_autograd=self.arguments.autograd_backend,
        )
        try:
            await asyncio.wait_for(agent.ask(request), HELLO_TIMEOUT)
        except TimeoutError:
            raise RequestError(f"The agent did not answer within {HELLO_TIMEOUT:.0f} seconds.") from None
        if agent.hello.suspension_reason:
            self.say(f"compile-time stops wait outside debugpy: {agent.hello.suspension_reason}", "console")

    async def release_agent(self) -> None:
        """Send the agent ConfigurationDone: a program that waits for it continues."""
        if self.agent is not None:
            await self.agent.ask(ConfigurationDone())

    def leave_agent(self, *, detach: bool) -> None:
        """Close the agent's channel; with `detach` the program continues to run."""
        if self.agent is not None:
            if detach:
                self.agent.tell(Detach())
            self.agent.close()
        self.stops.clear()

    async def _read_agent(self, agent: AgentConnection) -> None:
        async with contextlib.aclosing(agent.notices()) as notices:
            async for notice in notices:
                self._on_notice(notice)
        self._last_stop = next(iter(self.stops.all()), None) if agent.unreadable is None else None
        self.stops.clear()
        if agent.unreadable is not None:
            logger.error(agent.unreadable)
            self.say(agent.unreadable)
        self.agent_is_gone()

    @abstractmethod
    def agent_is_gone(self) -> None:
        """Handle the end of the channel, closed from either side."""

    def announce_capabilities(self, stop: CompileTimeStop | None) -> None:
        """Send the capabilities at this stop (None: at run time) if they have changed."""
        capabilities = capabilities_at(stop)
        if capabilities != self._capabilities:
            self._capabilities = capabilities
            self.event("capabilities", {"capabilities": capabilities})

    def _on_notice(self, notice: FromAgent) -> None:  # noqa: C901 - one case a line
        match notice:
            case Stopping():
                stop = self.stops.add(notice, self.paths)
                assert self.agent is not None
                self.agent.tell(Acknowledge(thread_ident=notice.thread_ident))
                self._sources_changed("new", notice.documents)
                self.client.breakpoints.stopped_at(notice.hit_breakpoint_ids)
                if notice.own_loop:
                    self.announce_capabilities(stop)
                    self.event("stopped", own_stopped(stop))
                elif notice.reason == "pause" and self.client.refetches:
                    # the client may show it as stopped already, since another thread stopped
                    self.event("invalidated", {"areas": ["stacks"], "threadId": notice.thread_id})
                self.say_who_waits()
            case Resumed():
                self._sources_changed("removed", notice.documents)
                ended = self.stops.remove_thread(notice.thread_ident)
                if ended is not None and ended.notice.own_loop:  # by a signal: the client has not resumed it
                    self.event("continued", {"threadId": ended.notice.thread_id, "allThreadsContinued": False})
                if self.agent is not None:
                    self.agent.pending.gone_on(notice.thread_ident)
                self.say_who_waits()
            case SourcesLoaded():
                self._sources_changed("new", notice.sources)
                self._sources_changed("removed", notice.removed)
            case BreakpointChanged(never_hit=True, compiled=False) if self.has_child_sessions:
                pass  # as a launcher of ranks: the sessions of its children tell it of theirs
            case BreakpointChanged():
                entry = self.client.breakpoints.told_by_agent(notice.breakpoint, never_hit=notice.never_hit)
                if entry is not None:
                    self.event("breakpoint", {"reason": "changed", "breakpoint": entry.shown()})
            case CompileBegins():
                self.say_who_waits()
            case Invalidated():
                self._invalidated(notice)
            case ConsoleOutput():
                self._output(notice)
            case RankJoined():
                self.client.event("dynascopeRank", {"rank": notice.rank})
            case DynamoReady(missing=[_, *_]):
                self.say(
                    f"no compile-time stops: torch {notice.torch_version} lacks {', '.join(notice.missing)}. "
                    "Update dynascope, or report this torch version."
                )
            case DynamoReady():
                logger.info("hooked torch %s", notice.torch_version)
                progress = Progress(self.client)
                if progress.is_shown and self.agent is not None:
                    self.in_background(CompileProgress(progress).follow(self.agent))

    def say_who_waits(self) -> None:
        """Report after `SETTLED` seconds which threads wait in the compiler for a stopped one."""
        if self._says_who_waits is None:
            later = asyncio.get_running_loop().call_later
            self._says_who_waits = later(SETTLED, lambda: self.in_background(self._tell_waiting()))

    async def _tell_waiting(self) -> None:
        self._says_who_waits = None
        for holder, sentence in self._waiting.newly_waiting(await compiles(self.agent)):
            place = Source(path=self.paths.to_client(holder.path)) if holder.path else None
            self.say(sentence, source=place, line=holder.line)

    def _invalidated(self, notice: Invalidated) -> None:
        if self.client.refetches:
            stop = next((s for s in self.stops.all() if s.notice.thread_ident == notice.thread_ident), None)
            body: dict[str, Any] = {"areas": notice.areas}
            if stop is not None:
                body["threadId"] = stop.notice.thread_id
            self.event("invalidated", body)

    def _sources_changed(self, reason: Literal["new", "removed"], sources: Iterable[Source]) -> None:
        for source in sources:
            self.event("loadedSource", {"reason": reason, "source": source})

    def _output(self, notice: ConsoleOutput) -> None:
        body: dict[str, Any] = {"category": self.client.category(notice.category), "output": notice.output}
        if notice.path is not None:
            body["source"] = {"path": self.paths.to_client(notice.path)}
            if notice.line is not None:
                body["line"] = notice.line
        self.event("output", body)

    def failed(self, error: Exception) -> Envelope:
        """Return a failed response to `launch` or `attach`, and log an internal error."""
        if not isinstance(error, RequestError):
            logger.error("an internal error", exc_info=error)
        return Envelope("response", 0, success=False, message=str(error) or type(error).__name__)


def succeeded() -> Envelope:
    """Return a successful response to `launch` or `attach`."""
    return Envelope("response", 0, success=True)


def decode_body(envelope: Envelope) -> dict[str, Any]:
    """Return the body of an event or response; {} when there is none."""
    return msgspec.json.decode(envelope.body) if isinstance(envelope.body, Raw) else {}
