"""Say what to expect of a breakpoint, from what Dynamo has done, and why it was never hit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

AFTER_BREAK = "Dynamo cannot resume after a graph break in {name}, and leaves the rest of it uncompiled"
AT_IMPORT = "Dynamo never traces module-level code"
IN_FILE = "Dynamo does not trace this file: {why}"
ALWAYS_RUNS = "Module-level code always runs uncompiled: the breakpoint stops each time the line runs."
AT_INSTRUCTION = "It stops when Dynamo traces this instruction, in each compile of its function."
NOT_GENERATED = "Not compiled yet: it stops when Dynamo has generated this code and the instruction is about to run."
AT_ENTRY = "{it} stops where code that Dynamo generated for {names} is entered, and at its graph breaks.{part}"
NO_CODE_YET = "Not compiled yet: it"
HITS = " Its hits count over all compiles."
HITS_OF_RUNS = " Its hits count over all compiles, and when it runs uncompiled."
DISABLED = "{name} is under torch.compiler.disable{because}: Dynamo does not trace it."
NO_FUNCTION_YET = "Dynamo has traced no function of this name yet."
RUNS_UNCOMPILED = (
    "{name} is left uncompiled, and the breakpoint stops each time the line runs. A compiled function that calls "
    "{name} breaks its graph at the call. With fullgraph=True, and where the call is in the body of torch.cond, "
    "torch.func.grad or the like, that function runs uncompiled, too."
)

# Why it was never hit. `here`: in this process, since the debugger was attached; `runs`: what debugpy has seen.
NOT_IMPORTED = "Its file was never imported{here}."
COMPILED_BEFORE = "{name} was compiled before the breakpoint was set, and not again{here}{runs}."
NEVER_THIS_LINE = "Dynamo traced {name}, but never this line{here}{runs}."
REST_NOT_COMPILED = "What follows the graph break before it in {name} was never compiled{here}{runs}."
GIVEN_UP = "Dynamo gave up a compile of {name} before this line{here}{runs}."
GIVEN_UP_EACH = "Dynamo gave up each compile of {name}{here}."
NOTHING_COMPILED = "Nothing was compiled{here}{runs}."
NOT_TRACED = "Dynamo did not trace {name}{here}{runs}."
INSTRUCTION_NOT_TRACED = "Dynamo did not trace this instruction of {name} after the breakpoint was set."
NO_SUCH_ADDRESS = "Dynamo has traced no code at this address."
LOADED = "Its function was compiled before, and loaded as {what}, so Dynamo did not trace it."
LOADED_MORE = " The program loaded {what}: no line of such code can stop."
NOT_EVEN_RUN = ": it did not run, or only uncompiled"
NO_SUCH_FUNCTION = "Dynamo traced no {name}{here}{runs}."
NO_CODE_GENERATED = "Dynamo generated no code for {name}."
NOT_RUN = ", and debugpy saw no run of this line"
NO_CALL = ", and debugpy saw none{where} run uncompiled{condition}"
UNSEEN = (
    ". It does not see what runs as a thread or the program ends, nor what Dynamo itself runs while it compiles "
    "(`debugDynamo` does)"
)
IN_LIBRARY = ', and debugpy stops in packages only with "justMyCode": false'


class Outlook(Enum):
    """What Dynamo has done with the line so far."""

    NOT_YET = "Not compiled yet: the breakpoint {stops} when Dynamo traces the line"
    COMPILED = "Compiled already: the breakpoint {stops} again when Dynamo traces the line again."
    PASSED_BY = (
        "Compiled, but Dynamo did not come to this line: the breakpoint {stops} when a later compile comes to it."
    )
    NEVER_TRACED = "{reason}"
    COMPILER = 'This is code of the compiler, which debugpy does not watch while it compiles: set "debugDynamo": true.'


@dataclass(frozen=True)
class Expectation:
    """An outlook with its reason, for one session."""

    outlook: Outlook
    runs_are_debugged: bool
    """Whether a line that Dynamo does not trace stops when it runs, in debugpy."""
    reason: str = ""

    @property
    def can_stop(self) -> bool:
        """Whether the breakpoint is verified."""
        if self.outlook is Outlook.NEVER_TRACED:
            return self.runs_are_debugged
        return self.outlook is not Outlook.COMPILER

    def message(self, stops: str = "stops") -> str:
        """Return what is said when the breakpoint is set; one with a message `logs`."""
        text = self.outlook.value.format(stops=stops, reason=self.reason.rstrip("."))
        if self.outlook is Outlook.NOT_YET:
            return text + (", and when the line runs uncompiled." if self.runs_are_debugged else ".")
        if self.outlook is Outlook.NEVER_TRACED:
            runs = f". The breakpoint {stops} when the line runs uncompiled"
            return f"{text}{runs if self.runs_are_debugged else '; without debugpy this line cannot stop'}."
        return text


def not_stopped(reached: int, hits: int, condition: str | None, hit_condition: str | None, who: str, runs: int) -> str:
    """Return the condition that kept `who` from stopping; "" without one.

    `runs` is how often the line ran uncompiled besides.
    """
    came = times(reached + runs)
    came = f"It was reached {came}" if runs else f"{who} came here {came}"
    if condition and not hits:
        return f"{came}, and its condition ({condition}) never held."
    held = f", its condition ({condition}) held {times(hits)} in all" if condition else ""
    return f"{came}{held}, and its hit condition is {hit_condition}." if hit_condition else ""


def not_run(what: str, here: str, condition: str | None) -> str:
    held = f", or its condition ({condition}) never held" if condition else " after the breakpoint was set"
    return f"{what} was not seen to run{here}{held}."


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
