"""Try what else could be compiled, at a compile-time stop."""

from __future__ import annotations

from dynascope.terminal.commands import command
from dynascope.terminal.session import Session


@command("what", usage="if CHANGE | if keep | if undo | if", needs_stop=True)
def what_if(session: Session, argument: str) -> None:
    """Tell what would be compiled with a change: `what if x.shape[0] dynamic`, `what if n = 8`.

    Dynamo traces the frame to its end with and without the change, and gives no graph to a backend. The program then
    compiles plainly, unless you say `what if keep`. `what if` lists the changes that can be tried.
    """
    session.need_frame()
    session.printer.say(session.evaluate(f"what {argument or 'if'}").result)
