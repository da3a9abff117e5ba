"""Which capability a message makes use of: how a test shows that it really used the one it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Message = dict[str, Any]
Use = Callable[[Message], bool]


def asks(*commands: str) -> Use:
    return lambda message: message["command"] in commands


def gives(command: str, *path: str) -> Use:
    """A request with this argument, in any element of a list on the way."""

    def uses(message: Message) -> bool:
        found: list[Any] = [message.get("arguments") or {}]
        for name in path:
            found = [each.get(name) for each in found if isinstance(each, dict)]
            found = [part for each in found for part in (each if isinstance(each, list) else [each])]
        return message["command"] == command and any(each is not None for each in found)

    return uses


def says(command: str, name: str, value: object) -> Use:
    return lambda message: message["command"] == command and (message.get("arguments") or {}).get(name) == value


USES: dict[str, Use] = {
    "supportsConfigurationDoneRequest": asks("configurationDone"),
    "supportsRestartRequest": asks("restart"),
    "supportsTerminateRequest": asks("terminate"),
    "supportTerminateDebuggee": gives("disconnect", "terminateDebuggee"),
    "supportsConditionalBreakpoints": gives("setBreakpoints", "breakpoints", "condition"),
    "supportsHitConditionalBreakpoints": gives("setBreakpoints", "breakpoints", "hitCondition"),
    "supportsLogPoints": gives("setBreakpoints", "breakpoints", "logMessage"),
    "supportsFunctionBreakpoints": gives("setFunctionBreakpoints", "breakpoints", "name"),
    "supportsDataBreakpoints": gives("setDataBreakpoints", "breakpoints", "dataId"),
    "supportsInstructionBreakpoints": gives("setInstructionBreakpoints", "breakpoints", "instructionReference"),
    "supportsBreakpointLocationsRequest": asks("breakpointLocations"),
    "breakpointModes": gives("setBreakpoints", "breakpoints", "mode"),
    "exceptionBreakpointFilters": gives("setExceptionBreakpoints", "filters"),
    "supportsExceptionFilterOptions": gives("setExceptionBreakpoints", "filterOptions"),
    "supportsExceptionInfoRequest": asks("exceptionInfo"),
    "supportsExceptionOptions": asks("setExceptionBreakpoints"),
    "supportsSteppingGranularity": lambda message: "granularity" in (message.get("arguments") or {}),
    "supportsSingleThreadExecutionRequests": says("next", "singleThread", True),
    "supportsStepInTargetsRequest": asks("stepInTargets"),
    "supportsStepBack": asks("stepBack"),
    "supportsRestartFrame": asks("restartFrame"),
    "supportsDisassembleRequest": asks("disassemble"),
    "supportsGotoTargetsRequest": asks("gotoTargets"),
    "supportsDelayedStackTraceLoading": gives("stackTrace", "levels"),
    "supportsValueFormattingOptions": gives("variables", "format"),
    "supportsEvaluateForHovers": says("evaluate", "context", "hover"),
    "supportsClipboardContext": says("evaluate", "context", "clipboard"),
    "supportsCompletionsRequest": asks("completions"),
    "supportsSetVariable": asks("setVariable"),
    "supportsSetExpression": asks("setExpression"),
    "supportsLoadedSourcesRequest": asks("loadedSources"),
    "supportsModulesRequest": asks("modules"),
    "supportsCancelRequest": asks("cancel"),
}
