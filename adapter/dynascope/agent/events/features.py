"""What a user loses when a torch lacks a name that the agent wraps or needs; each is a noun for a sentence."""

from __future__ import annotations

from typing import NewType

Feature = NewType("Feature", str)

STOPS = Feature("compile-time stops")
RECORDING = Feature("recording")
DATA_BREAKPOINTS = Feature("data breakpoints")
NODE_BREAKPOINTS = Feature("function breakpoints on graph nodes")
RUN_MODE = Feature("breakpoints with mode `run`")
BACKWARD = Feature("stops in captured backwards")
TIME_TRAVEL = Feature("the warning of what going back repeats")
TIMELINE = Feature("events in the timeline")
WHAT_IF = Feature("`what if` at compile-time stops")
COMPTIME = Feature("stops at `comptime.breakpoint()`")
CALLED_FUNCTIONS = Feature("run-time stops in backends and fake kernels")
GRAPH_DOCUMENTS = Feature("compiled graphs as documents")
LATER_FORMS = Feature("what AOTAutograd and Inductor made of a graph")
GUARD_FILTERS = Feature("what filters of guards would drop")
EVALUATION = Feature("the debug console")
GRAPH_BREAK = Feature("the exception filter `graphBreak`")
RECOMPILE = Feature("the exception filter `recompile`")
RECOMPILE_LIMIT = Feature("the exception filter `recompileLimit`")
SPECIALIZATION = Feature("the exception filter `specialization`")
BACKEND_FAILURE = Feature("the exception filter `backendFailure`")
SKIPPED_FRAME = Feature("the exception filter `skippedFrame`")
CODEGEN = Feature("the exception filter `codegen`")
NEVER_HIT = Feature("reasons of breakpoints in loaded code")
