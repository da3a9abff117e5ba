"""Combine the entries of a TORCH_TRACE log about one compile into facts."""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from dynascope.facts import break_message, user_stack
from dynascope.facts.model import (
    BreakEffect,
    Compile,
    CompileFacts,
    CompileStatus,
    GraphBreak,
    Guard,
    Recompile,
    Specialization,
    Symbol,
)
from dynascope.facts.recompiles import recompile_reason
from dynascope.facts.user_stack import UserFrame
from dynascope.recording.torch_trace import LogEntry, TraceLog

_RESUME_NAME = re.compile(r"torch_dynamo_resume_in_(\w+)_at_(\d+)$")
_HIGHER_ORDER = re.compile(r"\n  Higher Order Operator: [^\n]*")
_REASON = re.compile(
    r"^Graph Break Reason: (?P<reason>.*?)\n+(?:Stack variable source attribution:|User code traceback:)",
    re.DOTALL | re.MULTILINE,
)
_OURS = "/dynascope/agent/"
_SWALLOWED = ("Unsupported", "SkipFrame", "UserError")
_VERSION = re.compile(r"(\d+)\.(\d+)\.")
_WHILE_TRACED = re.compile(r'symbolic_convert\.py", line \d+, in run$', re.MULTILINE)
_LOGS_WHAT_RUNS_UNCOMPILED = 2, 11
"""The oldest torch whose logs are known to have each break for which a function runs uncompiled."""


class ImportedCompile:
    """Collect the entries of one compile."""

    def __init__(self, key: tuple[int, ...], log: TraceLog, first: ImportedCompile | None) -> None:
        """Take the code from `first`, the frame's first compile, if the log does not name it."""
        autograd, frame, compile = key
        self._compile_id = f"!{autograd}/{frame}/{compile}" if autograd >= 0 else f"{frame}/{compile}"
        self._log = log
        self._first = first
        self._attempt = 0
        self._started: UserFrame | None = None
        self._metrics: dict[str, Any] = {}
        self._graphs = 0
        self._error = ""
        self._breaks: dict[tuple[Any, ...], GraphBreak] = {}
        self._reasons: list[str] = []
        self._symbols: dict[str, Symbol] = {}
        self._specializations: dict[tuple[Any, ...], Specialization] = {}
        self._guards: list[Guard] = []

    @property
    def is_known(self) -> bool:
        """Whether the log says which code was compiled."""
        return bool(self._metrics or self._started)

    def read(self, entry: LogEntry) -> None:
        metadata = entry.metadata
        self._attempt = max(self._attempt, int(metadata.get("attempt") or 0))
        if "dynamo_start" in metadata:
            stack = self._log.stack(metadata["dynamo_start"].get("stack"))
            self._started = stack[-1] if stack else None
        elif "compilation_metrics" in metadata:
            self._metrics = metadata["compilation_metrics"]
        elif "dynamo_output_graph" in metadata:
            self._graphs += 1
        elif "create_symbol" in metadata or "create_unbacked_symbol" in metadata:
            self._read_symbol(metadata.get("create_symbol") or metadata["create_unbacked_symbol"])
        elif "symbolic_shape_specialization" in metadata:
            self._read_specialization(metadata["symbolic_shape_specialization"])
        elif entry.artifact == "dynamo_graph_break_reason":
            self._read_break(entry.payload)
        elif entry.artifact == "recompile_reasons":
            self._read_recompile(entry.payload)
        elif entry.artifact == "dynamo_error":
            self._error = entry.payload
        elif "dynamo_guards" in metadata:
            self._read_guards(entry.payload)

    def _read_break(self, text: str) -> None:
        match = _REASON.search(text)
        if not text.startswith("Graph break in user code at ") or match is None:
            return  # a second report of a break that has an entry
        effect, counted, message = break_message.split_reason(_HIGHER_ORDER.sub("", match["reason"]))
        traceback = text[match.end() :].partition("\nTraceback (most recent call last):")[0]
        self._add_break(effect, message, traceback, counted)

    def _add_break(self, effect: BreakEffect, message: str, traceback: str, counted: bool) -> None:
        frames = tuple(_real_frames(user_stack.logged_stack(traceback)))
        earlier = self._breaks.get((effect, message, frames))
        if earlier is not None:
            earlier.count += 1
            earlier.counted += counted
            return
        fact = break_message.graph_break(message, effect, frames, UserFrame("", 0, "?"))
        fact.counted = int(counted)
        self._breaks[effect, message, frames] = fact

    def _read_recompile(self, payload: str) -> None:
        try:
            reasons = msgspec.json.decode(payload)
        except msgspec.DecodeError:
            reasons = payload  # Dynamo writes a single reason as plain text
        reasons = [reasons] if isinstance(reasons, str) else [str(reason) for reason in reasons]
        self._reasons = recompile_reason.of_guards(reasons)[0]

    def _read_symbol(self, entry: dict[str, Any]) -> None:
        at = user_stack.innermost(_real_frames(self._log.stack(entry.get("user_stack"))))
        low, _, high = str(entry.get("vr", "")).removeprefix("VR").strip("[]").partition(", ")
        name, source = str(entry.get("symbol")), entry.get("source")
        self._symbols[name] = Symbol(
            path=at.path if at is not None else "",
            line=at.line if at is not None else 0,
            name=name,
            hint=str(entry["val"]) if entry.get("val") is not None else None,
            low=low.replace("int_oo", "oo") or "?",
            high=high.replace("int_oo", "oo") or "?",
            origins=[str(source)] if source else [],
        )

    def _read_specialization(self, entry: dict[str, Any]) -> None:
        stack = _real_frames(self._log.stack(entry.get("user_stack")))
        at = user_stack.innermost(stack) or self._started or UserFrame("", 0, "?")
        symbol, value = str(entry.get("symbol")), str(entry.get("value"))
        self._specializations[symbol, value, at] = Specialization(
            path=at.path,
            line=at.line,
            symbol=symbol,
            value=value,
            reason=str(entry.get("reason", "")),
            origins=[str(source) for source in entry.get("sources") or ()],
            stack=user_stack.tidy_stack(stack),
        )

    def _read_guards(self, payload: str) -> None:
        try:
            guards = msgspec.json.decode(payload)
        except msgspec.DecodeError:
            return
        self._guards = []
        for guard in guards:
            at = user_stack.innermost(_real_frames(self._log.stack(guard.get("user_stack"))))
            self._guards.append(
                Guard(
                    path=at.path if at is not None else "",
                    line=at.line if at is not None else 0,
                    expression="",
                    kind="",
                    code=[str(guard.get("code", ""))],
                )
            )

    def _is_raised(self) -> bool:
        """Whether the program got the break as an error.

        If not, torch has logged it as one for which the function runs uncompiled.
        """
        version = _VERSION.match(str(self._metrics.get("pytorch_version")))
        return (
            version is not None
            and (int(version[1]), int(version[2])) >= _LOGS_WHAT_RUNS_UNCOMPILED
            and self._metrics.get("fail_type") in ("Unsupported", "UserError")
            and _WHILE_TRACED.search(self._error) is not None
            and all(each.effect != "function uncompiled" for each in self._breaks.values())
        )

    def facts(self) -> CompileFacts:
        if self._is_raised():
            message = _HIGHER_ORDER.sub("", str(self._metrics.get("fail_reason") or ""))
            self._add_break("raised", message, break_message.user_code_of(self._error), counted=False)
        compile = self._compile()
        return CompileFacts(
            compile=compile,
            graph_breaks=list(self._breaks.values()),
            recompiles=[self._recompile(reason, compile) for reason in self._reasons],
            symbols=list(self._symbols.values()),
            specializations=list(self._specializations.values()),
            guards=self._guards,
        )

    def _code(self) -> tuple[str, int, str]:
        """Return the code's path, first line and name."""
        if self._metrics.get("co_name"):
            return (
                str(self._metrics.get("co_filename") or ""),
                int(self._metrics.get("co_firstlineno") or 0),
                str(self._metrics["co_name"]),
            )
        if self._started is not None:
            return self._started.path, self._started.line, self._started.function
        return self._first._code() if self._first is not None else ("", 0, "?")

    def _compile(self) -> Compile:
        metrics = self._metrics
        path, line, function = self._code()
        path = _real_path(path)
        resumed = _RESUME_NAME.match(function)
        status: CompileStatus = "compiled" if self._graphs else "empty"
        failure, skip_reason = metrics.get("fail_type"), None
        is_swallowed = failure in _SWALLOWED and not self._is_raised()
        if is_swallowed or (failure is None and metrics.get("guard_count") is None):
            status, skip_reason, failure = "skipped", str(metrics.get("fail_reason") or self._error), None
        elif failure is not None:
            user_code = break_message.user_code_of(self._error)
            stack = f"\n\nfrom user code:\n{user_code}" if user_code else ""
            status, failure = "failed", f"{failure}: {metrics.get('fail_reason') or ''}{stack}"
        return Compile(
            compile_id=self._compile_id,
            attempts=self._attempt + 1,
            function=resumed.group(1) if resumed is not None else function,
            path=path,
            line=line,
            resumes_at=int(resumed.group(2)) if resumed is not None else None,
            reason=recompile_reason.parse(self._reasons[0], path).guard if self._reasons else None,
            status=status,
            skip_reason=skip_reason,
            failure=failure,
            began=float(metrics.get("start_time") or self._log.path.stat().st_mtime),
            seconds=float(metrics.get("entire_frame_compile_time_s") or 0.0),
            backend_seconds=float(metrics.get("backend_compile_time_s") or 0.0),
            graphs=self._graphs if status == "compiled" else 0,
            nodes=int(metrics.get("graph_op_count") or 0),
        )

    def _recompile(self, reason: str, compile: Compile) -> Recompile:
        failed = recompile_reason.parse(reason, compile.path)
        limit = "recompile limit exceeded" in str(self._metrics.get("fail_reason") or "").lower()
        return Recompile(
            path=compile.path,
            line=compile.line,
            function=compile.function,
            failed_compile_id=failed.failed_compile_id,
            guard=failed.guard,
            guard_path=_real_path(failed.path) if failed.path is not None else None,
            guard_line=failed.line,
            hint=failed.hint,
            limit_reached=limit,
        )


def _real_frames(stack: list[UserFrame]) -> list[UserFrame]:
    return [
        UserFrame(_real_path(frame.path), frame.line, frame.function)
        for frame in stack
        if frame.path != "<frozen runpy>" and _OURS not in frame.path.replace("\\", "/")
    ]


def _real_path(path: str) -> str:
    """Return the real path of a file on this machine; a path of another machine is unchanged."""
    return os.path.realpath(path) if path and os.path.exists(path) else path
