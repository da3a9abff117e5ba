"""The table of capabilities, written from what the adapter declares and from the tests that use it.

`python -m tests.support.dap.capability_table` writes it between its markers in docs/capabilities.md.
A capability without a row, and a row that is no capability, fail the tests; so does a table that is stale.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dynascope.dap import requests
from dynascope.dap.requests.registry import CAPABILITIES

from tests.support.dap.capability_tests import files_by_capability

ROOT = Path(__file__).parents[3]
PAGES = (ROOT / "docs" / "capabilities.md",)
BEGIN, END = "<!-- {name}: written by `make capabilities` -->", "<!-- {name} ends -->"


@dataclass(frozen=True)
class Row:
    """What a capability does in each half, and the prompt's command for it."""

    compile_time: str
    run_time: str
    terminal: str


SAME = "as debugpy"
NOT_HERE = "–"

ROWS: dict[str, Row] = {
    "supportsConfigurationDoneRequest": Row("the program waits for its breakpoints", "the same", "`run`"),
    "supportsRestartRequest": Row("a new program, the same breakpoints", "the same", "`restart`"),
    "supportsTerminateRequest": Row("ends a program that compiles, too", "ends it", "`quit`"),
    "supportTerminateDebuggee": Row("ends or leaves a stopped compile", "with all its children", "`quit`"),
    "supportsConditionalBreakpoints": Row("evaluated on fakes, adds no guard", SAME, "`break LINE, CONDITION`"),
    "supportsHitConditionalBreakpoints": Row(
        "over all compiles: `3`, `>= 3`, `% 2`", "counts on from there", "`break --hit HITS LINE`"
    ),
    "supportsLogPoints": Row("`{expressions}` on fakes", SAME, "`break --log TEXT LINE`"),
    "supportsFunctionBreakpoints": Row(
        "a call that is inlined, by name or pattern", "a call that runs uncompiled, by name", "`break FUNCTION`"
    ),
    "supportsDataBreakpoints": Row("guards, symbols, shapes, mutations, uses of a value", NOT_HERE, "`watch`"),
    "supportsInstructionBreakpoints": Row("one instruction of the traced bytecode", NOT_HERE, "`break *ADDRESS`"),
    "supportsBreakpointLocationsRequest": Row("lines that have code", "the same", "`break`"),
    "breakpointModes": Row("trace, run, generated, backward", "run, generated", "`break --mode`"),
    "exceptionBreakpointFilters": Row("decisions and failures of the compiler", SAME, "`catch`"),
    "supportsExceptionFilterOptions": Row(
        "a condition on each filter: `GB0059, my code`", NOT_HERE, "`catch FILTER CONDITION`"
    ),
    "supportsExceptionInfoRequest": Row("Dynamo's explanation, hints, id and page", SAME, "at the stop"),
    "supportsExceptionOptions": Row(NOT_HERE, SAME, NOT_HERE),
    "supportsSteppingGranularity": Row("a line, or an instruction", "a line", "`stepi`, `nexti`"),
    "supportsSingleThreadExecutionRequests": Row(
        "one thread steps or continues, others stay stopped", "the same", "`alone next`"
    ),
    "supportsStepInTargetsRequest": Row("the calls of the line that Dynamo would inline", SAME, "`step CALL`"),
    "supportsStepBack": Row(
        "the line, instruction or breakpoint before; Dynamo traces the frame again", NOT_HERE, "`back`, `rcontinue`"
    ),
    "supportsRestartFrame": Row("the first line of a symbolic frame", NOT_HERE, "`rframe`"),
    "supportsDisassembleRequest": Row("the bytecode Dynamo traces, jumps, stack effects", NOT_HERE, "`disassemble`"),
    "supportsGotoTargetsRequest": Row("back to where the line began last, in any function", SAME, "`jump`"),
    "supportsDelayedStackTraceLoading": Row("symbolic and real frames, paged as one stack", SAME, "`where`"),
    "supportsValueFormattingOptions": Row("hexadecimal numbers, parameters of frames", SAME, "`expand`"),
    "supportsEvaluateForHovers": Row("reads rows; runs none of your code", SAME, "`print`"),
    "supportsClipboardContext": Row("the whole text", SAME, "`print`"),
    "supportsCompletionsRequest": Row("locals, closure, globals, `ctx`, attributes", SAME, "Tab"),
    "supportsSetVariable": Row("names of the debug console; another number is tried", SAME, "`print`, `what if`"),
    "supportsSetExpression": Row(
        "names of the debug console; another number, `dynamic`, `static` is tried", SAME, "`print`, `what if`"
    ),
    "supportsLoadedSourcesRequest": Row(
        "every graph, generated code, resume function; the graph so far", "files of the modules", "`sources`"
    ),
    "supportsModulesRequest": Row("files whose code Dynamo traced", SAME, "`modules`"),
    "supportsCancelRequest": Row("interrupts a request on the stopped thread", NOT_HERE, NOT_HERE),
}

NOT_SERVED: dict[str, tuple[str, str]] = {
    "supportsReadMemoryRequest": ("CodeLLDB, GDB", "a fake tensor has no data, and a symbolic frame no memory"),
    "supportsWriteMemoryRequest": ("CodeLLDB, GDB", "as above"),
    "supportSuspendDebuggee": (
        "none of these",
        "a program left stopped in a compile would hold Dynamo's lock, and every other compile would wait for ever",
    ),
    "supportsTerminateThreadsRequest": ("none of these", "Python cannot end a thread"),
    "supportsDebuggerProperties": ("debugpy", "a private request of Visual Studio about debugpy's settings"),
    "supportsANSIStyling": ("none of these", "all output is plain text, for consoles of every kind"),
    "supportedChecksumAlgorithms": ("none of these", "Python runs the source that is on disk"),
}
"""Capabilities that debugpy, Delve, CodeLLDB or GDB's DAP declare, or could, and why Dynascope does not."""

Tests = dict[str, str]
"""The file of each capability's test."""


def declared() -> set[str]:
    """The capabilities of `initialize`."""
    requests.load()
    return set(CAPABILITIES)


def table(used: Tests) -> str:
    """Markdown: a row per declared capability, in the order of `ROWS`."""
    lines = ["| capability | at compile time | at run time | at the prompt |", "|---|---|---|---|"]
    lines += [
        f"| [`{name}`](../{used[name]}) | {row.compile_time} | {row.run_time} | {row.terminal} |"
        for name, row in ROWS.items()
        if name in declared()
    ]
    return "\n".join(lines)


def comparison() -> str:
    """Markdown: the capabilities that only others declare."""
    lines = ["| capability | declared by | why not here |", "|---|---|---|"]
    lines += [f"| `{name}` | {who} | {why} |" for name, (who, why) in NOT_SERVED.items()]
    return "\n".join(lines)


def with_table(page: str, name: str, text: str) -> str:
    """The page with `text` between the markers of that name; a page without them stays as it is."""
    begin, end = BEGIN.format(name=name), END.format(name=name)
    if begin not in page:
        return page
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n{text}\n{rest[rest.index(end) :]}"


def pages(used: Tests) -> Iterable[tuple[Path, str]]:
    """Each page and what it should say."""
    for path in PAGES:
        page = with_table(path.read_text(), "capabilities", table(used))
        yield path, with_table(page, "not served", comparison())


def main() -> None:
    for path, text in pages(files_by_capability()):
        path.write_text(text)


if __name__ == "__main__":
    main()
