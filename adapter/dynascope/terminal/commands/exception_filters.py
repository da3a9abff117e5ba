"""Switch exception filters: the program's exceptions, and decisions of the compiler."""

from __future__ import annotations

from dynascope.terminal.breakpoints import exception_filters
from dynascope.terminal.client import RequestFailed
from dynascope.terminal.commands import command
from dynascope.terminal.selection import CommandError
from dynascope.terminal.session import Session


@command("catch", usage="[FILTER [CONDITION | off] | none]")
def catch(session: Session, argument: str) -> None:
    """Stop at graph breaks, recompiles and the like, or at exceptions; alone, list the filters.

    `catch graphBreak`, `catch recompile my code`, `catch graphBreak GB0059, model.py:36`, `catch specialization off`;
    `catch none` switches all off. CONDITION is a list of terms between commas, which must all be true:
    a registry id (GB0059), `my code` or `library code`, FILE or FILE:LINE, "text of the explanation",
    `first chance` (graphBreak: as soon as it is raised, even if Dynamo will handle it), and last a Python expression.
    """
    if not argument:
        _list(session)
        return
    name, condition = exception_filters.parse(argument)
    if name == "none":
        session.catching.switch_all_off()
    elif name not in (names := [entry.filter for entry in session.exception_filters()]):
        raise CommandError(f"there is no filter `{name}`; there are: {', '.join(names) or 'none'}")
    elif condition == "off":
        session.catching.switch_off(name)
    else:
        session.catching.switch_on(name, condition or None)
    send_filters(session)


def send_filters(session: Session) -> None:
    """Send the filters to the adapter, if one runs; print refused ones. Raises CommandError."""
    if session.debuggee is None:
        return
    try:
        refused = session.debuggee.set_exception_filters(session.catching)
    except RequestFailed as error:
        raise CommandError(str(error)) from error
    for name, why in refused.items():
        session.printer.error(f"{name}: {why}")


def _list(session: Session) -> None:
    filters = session.exception_filters()
    on = session.catching.on(filters)
    width = max((len(entry.filter) for entry in filters), default=0)
    for entry in filters:
        condition = on.get(entry.filter)
        text = f"  {'on ' if entry.filter in on else 'off'} {entry.filter:{width}}  {entry.description or entry.label}"
        session.printer.say(text + (f"  [{condition}]" if condition else ""))
