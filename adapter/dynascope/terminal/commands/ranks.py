"""Show, select and resume the ranks of a job, and fold their stacks."""

from __future__ import annotations

from dynascope.rank_names import named_ranks, ranks_text
from dynascope.terminal.client import CommandError
from dynascope.terminal.commands import command, find
from dynascope.terminal.commands.execution import STEPS
from dynascope.terminal.folded_stacks import folded
from dynascope.terminal.job import Job
from dynascope.terminal.printing import place
from dynascope.terminal.session import TerminalSession
from dynascope.wire.dap import StackFrame

_SECONDS = 10.0
"""How long `all` waits for ranks that do not stop: they may run to their end."""


def job_of(session: TerminalSession) -> Job:
    """Return the job that is debugged. Raises CommandError for another program."""
    debuggee = session.need_program()
    if not isinstance(debuggee, Job):
        raise CommandError("this program has no ranks: they are those of a job, `dynascope debug torchrun … train.py`")
    return debuggee


@command("ranks", needs_stop=True)
def ranks(session: TerminalSession, argument: str) -> None:
    """List the ranks of a job and where they are; `>` marks the selected one."""
    job = job_of(session)
    stopped = job.stopped_ranks()
    selected = job.rank_of(session.stop.thread_id) if session.stop is not None else None
    for number, rank in sorted(job.ranks.items()):
        where = "has ended" if rank.ended else "runs"
        if number in stopped:
            frames = job.frames_of(number, 1)
            where = f"is at {_text(frames[0])}" if frames else "is stopped"
        session.printer.say(f"{'>' if number == selected else ' '} rank {number} {where}")


@command("rank", usage="NUMBER", needs_stop=True, missing="which? `ranks` lists them")
def rank(session: TerminalSession, argument: str) -> None:
    """Select a rank that is stopped, and show where it is."""
    job = job_of(session)
    if not argument.isdecimal() or int(argument) not in job.ranks:
        raise CommandError(f"there is no rank {argument} here; `ranks` lists them")
    stop = job.stopped_ranks().get(int(argument))
    if stop is None:
        state = "has ended" if job.ranks[int(argument)].ended else "runs; Ctrl-C during `continue` stops it"
        raise CommandError(f"rank {argument} {state}")
    session.select_thread(stop.thread_id)


@command(
    "all",
    usage="continue | next | step | out",
    repeats=True,
    needs_stop=True,
    missing="what shall all ranks do? `all next`, `all continue`",
    resumes=True,
)
def all_(session: TerminalSession, argument: str) -> None:
    """Resume all ranks that are stopped, and wait until each has stopped again or ended.

    Ranks that still run after 10 s are waited for no longer.
    """
    job = job_of(session)
    name = find(argument).names[0]
    if name not in STEPS:
        raise CommandError(f"`all` takes one of {', '.join(f'`{word}`' for word in STEPS)}, not `{argument}`")
    session.resume_ranks(job, STEPS[name], _SECONDS)


def where_all(session: TerminalSession) -> None:
    """Print the stacks of all stopped ranks as one tree, the outermost frame first."""
    job = job_of(session)
    stacks = {number: [*map(_text, reversed(job.frames_of(number)))] for number in job.stopped_ranks()}
    for depth, numbers, frame in folded(stacks):
        session.printer.say(f"{'  ' * depth}{named_ranks(ranks_text(numbers))}: {frame}")
    running = [number for number, each in job.ranks.items() if number not in stacks and not each.ended]
    if running:
        verb = "run" if len(running) > 1 else "runs"
        session.printer.say(f"{named_ranks(ranks_text(running))} {verb}", "dim")


def _text(frame: StackFrame) -> str:
    return f"{frame.name}  {place(frame)}"
