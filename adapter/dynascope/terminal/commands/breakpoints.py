"""Set, list, clear, enable and disable breakpoints."""

from __future__ import annotations

from dataclasses import replace

from dynascope.terminal.breakpoints import locations, options
from dynascope.terminal.breakpoints.breakpoints import UserBreakpoint
from dynascope.terminal.commands import command
from dynascope.terminal.selection import CommandError
from dynascope.terminal.session import Session


@command(
    "break",
    "b",
    usage="[--mode MODE] [--hit HITS] [--log TEXT] FILE:LINE | LINE | FILE:FUNCTION | FUNCTION | OPERATOR | *ADDRESS "
    "[, CONDITION]",
)
def break_(session: Session, argument: str) -> None:
    """Stop where Dynamo traces that line, and where it runs; alone, list the breakpoints.

    FILE may be a library's, as its import path has it: `break transformers/models/llama/modeling_llama.py:242`.
    FILE:FUNCTION is the first line of that function; FUNCTION may be a pattern: `*Attention*.forward`.
    CONDITION is a Python expression. OPERATOR stops where a node that calls it enters the graph: `torch.add`,
    `operator.add`, `torch.ops.aten.mm`, `call_method view`, with * and ?; its CONDITION may use `node`:
    `break torch.mm, node.args[0].meta["example_value"].shape[0] > 8`. `break *ADDRESS` stops at an instruction, which
    `disassemble` lists. MODE says when to stop at a line: `trace` (the default), `run` (each time it runs: its
    function is left uncompiled), `generated` (when the code that Dynamo generated for its function is entered),
    `backward` (when compiled autograd captures the nodes it creates). Parts of a backward have names of their own:
    `break AddmmBackward0`, `break NodeCall 5`, `break Scale.backward`, `break post_acc_grad_hook`, `break dce`.

    HITS counts the passes at which CONDITION is true, in all compiles and when the line runs: `--hit 3` stops at the
    third, `--hit ">= 3"` from then on, `--hit "% 2"` at every other. TEXT is printed instead of stopping, with
    {expressions} in it: `break --log "x is {x.shape}" model.py:36, x is not None`.
    """
    if argument:
        set_breakpoint(session, argument)
    else:
        breakpoints(session, "")


@command("tbreak", usage="[--mode MODE] [--hit HITS] FILE:LINE | … [, CONDITION]")
def tbreak(session: Session, argument: str) -> None:
    """Like `break`, for one stop only."""
    set_breakpoint(session, argument, temporary=True)


@command("breakpoints", "bl")
def breakpoints(session: Session, argument: str) -> None:
    """List the breakpoints: where each is, and whether it can be hit."""
    if not len(session.breakpoints):
        session.printer.say("no breakpoints; `break FILE:LINE` sets one")
    for breakpoint in session.breakpoints:
        session.printer.say(str(breakpoint))


@command("clear", "cl", "delete", usage="[NUMBER | LOCATION]…")
def clear(session: Session, argument: str) -> None:
    """Clear breakpoints: those named, or all."""
    chosen = [_find(session, word) for word in argument.split()] or list(session.breakpoints)
    for breakpoint in chosen:
        session.breakpoints.remove(breakpoint)
        session.printer.say(f"breakpoint {breakpoint.number} cleared: {breakpoint.location}")
    _send(session, chosen)


@command("disable", usage="NUMBER…")
def disable(session: Session, argument: str) -> None:
    """Keep breakpoints, but do not stop at them."""
    _switch(session, argument, enabled=False)


@command("enable", usage="NUMBER…")
def enable(session: Session, argument: str) -> None:
    """Stop at disabled breakpoints again."""
    _switch(session, argument, enabled=True)


def set_breakpoint(session: Session, argument: str, temporary: bool = False) -> None:
    """Set a breakpoint from the user's text, and print its state. Raises CommandError."""
    try:
        when, place = options.split(argument)
        if temporary and when.log_message:
            raise CommandError("a logpoint does not stop: `break --log` sets one")
        location, condition = locations.parse(place, session.current_file)
        options.check(when, location)
    except locations.BadLocation as error:
        raise CommandError(str(error)) from error
    when = replace(when, condition=condition)
    before = session.breakpoints.at(location)
    replaced = before.when if before is not None and not temporary and before.when != when else None
    breakpoint = session.breakpoints.add(location, when, temporary)
    _send(session, [breakpoint])
    session.printer.say(str(breakpoint))
    if replaced is not None:
        session.printer.say(f"    There is one breakpoint to a place: it was{str(replaced) or ' without condition'}.")


def _find(session: Session, word: str) -> UserBreakpoint:
    if word.isdecimal() and (breakpoint := session.breakpoints.get(int(word))) is not None:
        return breakpoint
    for breakpoint in session.breakpoints:
        if word in (str(breakpoint.location), breakpoint.place):
            return breakpoint
    raise CommandError(f"there is no breakpoint {word}; `breakpoints` lists them")


def _switch(session: Session, argument: str, enabled: bool) -> None:
    chosen = [_find(session, word) for word in argument.split()]
    if not chosen:
        raise CommandError("which? `breakpoints` lists them with their numbers")
    for breakpoint in chosen:
        breakpoint.enabled = enabled
        breakpoint.answer = None
    _send(session, chosen)


def _send(session: Session, changed: list[UserBreakpoint]) -> None:
    for group in dict.fromkeys(breakpoint.location.group for breakpoint in changed):
        session.send_breakpoints(group)
