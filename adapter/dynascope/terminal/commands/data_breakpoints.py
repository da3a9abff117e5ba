"""Set data breakpoints, on what the compiler decides about a value, with gdb's commands."""

from __future__ import annotations

from dataclasses import replace

from dynascope.terminal.breakpoints import options
from dynascope.terminal.breakpoints.locations import BadLocation, Location, split_condition
from dynascope.terminal.commands import command
from dynascope.terminal.selection import CommandError
from dynascope.terminal.session import Session
from dynascope.wire.dap import DataAccess

_USAGE = "[--hit HITS] NAME [, CONDITION]"
_MISSING = "watch what? `watch x`, `watch self.scale`, `watch L['x']`, `watch s0`"


@command("watch", usage=_USAGE, missing=_MISSING)
def watch(session: Session, argument: str) -> None:
    """Stop when the compiler changes a value: its fake shape or dtype, contents, or symbol.

    NAME is a variable with attributes and subscripts (`self.cache`, `x.shape[0]`), a source as in Guards
    (`L['x']`), or a symbol as in Shapes (`s0`). At a stop it is that of the selected frame's function, in later
    compiles too; else any of that name, or `FILE:FUNCTION:NAME`. HITS is as for `break`. `breakpoints` lists the
    watched values, `clear` removes them.
    """
    _watch(session, argument, "write")


@command("rwatch", usage=_USAGE, missing=_MISSING)
def rwatch(session: Session, argument: str) -> None:
    """Stop when a guard on a value is installed, or a node of the graph takes it as an input.

    NAME is as for `watch`, or a node of the graph: `rwatch %add`. CONDITION may use `node`.
    """
    _watch(session, argument, "read")


@command("awatch", usage=_USAGE, missing=_MISSING)
def awatch(session: Session, argument: str) -> None:
    """Stop where `watch` or `rwatch` stops."""
    _watch(session, argument, "readWrite")


def _watch(session: Session, argument: str, access: DataAccess) -> None:
    try:
        when, rest = options.split(argument)
        name, condition = split_condition(rest)
        location = Location(watched=name, access=access)
        options.check(when, location)
    except BadLocation as error:
        raise CommandError(str(error)) from error
    if not name:
        raise CommandError(_MISSING)
    before = list(session.breakpoints)
    breakpoint = session.breakpoints.add(location, replace(when, condition=condition))
    try:
        session.find_watched(breakpoint)
        session.send_breakpoints("data")
    except CommandError:
        if breakpoint not in before:
            session.breakpoints.remove(breakpoint)
        raise
    session.printer.say(str(breakpoint))
