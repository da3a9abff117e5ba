"""The command `dynascope attach`."""

from __future__ import annotations

import os
import signal
import sys

import click

from dynascope.remote.hosts import Host
from dynascope.wire.listening import ListeningProgram

_NONE = (
    "No program of yours listens {where}. Have it call dynascope.listen(), or start it with DYNASCOPE_LISTEN=0 in its "
    "environment."
)


@click.command()
@click.argument("where", required=False, metavar="[ssh://HOST[/NUMBER] | pod/NAME[:NUMBER]]")
@click.option("-n", "--namespace", metavar="NAME", help="The namespace of the pod.")
@click.option("-c", "--container", metavar="NAME", help="The container of the pod.")
def attach(where: str | None, namespace: str | None, container: str | None) -> None:
    """Lead a debugger to a program that listens on another machine.

    A program listens after `dynascope.listen()`, or if it was started with DYNASCOPE_LISTEN=0 in its environment: then
    each rank of a job does. NUMBER is its port or its process id; it may be left out where one program listens. The
    token is read there, a port of this machine is forwarded until Ctrl+C, and what to paste is printed. Without an
    argument: list the programs that listen on this machine.

    \b
    dynascope attach
    dynascope attach ssh://gpu1/5678
    dynascope attach ssh://me@gpu1:2222/4711
    dynascope attach -n training pod/trainer-0
    """
    if where is None:
        _list_those_here()
        return
    from dynascope.remote.hosts import Unreachable, host_of, listening_on

    try:
        host = host_of(where, namespace, container)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda number, frame: sys.exit(128 + number))  # so that the forward is ended too
    try:
        _forward(host, _chosen(host, listening_on(host)))
    except (Unreachable, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        click.echo()


def _list_those_here() -> None:
    from dynascope.wire.attach_configuration import how_to_attach
    from dynascope.wire.listening import listening

    found = listening()
    if not found:
        raise click.ClickException(_NONE.format(where="on this machine"))
    click.echo(_table(found))
    host, _, port = found[0].address.rpartition(":")
    click.echo(how_to_attach(host.strip("[]"), int(port), f"Attach to {_shown(found[0].program)}"))


def _chosen(host: Host, found: list[ListeningProgram]) -> ListeningProgram:
    """Return the program that the user means. Raises ClickException with the others."""
    if not found:
        raise click.ClickException(_NONE.format(where=f"on {host.name}"))
    named = [each for each in found if host.number in (None, each.port, each.pid)]
    if len(named) == 1:
        return named[0]
    what = "Several programs listen" if named else f"No program with port or process id {host.number} listens"
    raise click.ClickException(
        f"{what} on {host.name}:\n{_table(found)}\nName one: dynascope attach {host.numbered(found[0].port)}\n"
        "One that does not listen is debugged on its own machine: dynascope debug --pid N"
    )


def _table(programs: list[ListeningProgram]) -> str:
    """Return a row for each program: its rank, if any has one, its address, process and name."""
    ranks = any(each.rank is not None for each in programs)
    rows = [("rank", "address", "pid", "program")]
    for each in programs:
        rank = "" if each.rank is None else str(each.rank)
        rows.append((rank, _shown(each.address), str(each.pid), _shown(each.program)))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, [*widths, 0], strict=True)) for row in rows)
    start = 0 if ranks else widths[0] + 2
    return "\n".join(line[start:].rstrip() for line in lines)


def _shown(text: str) -> str:
    """Return a text of another program without characters that a terminal acts on."""
    return "".join(each if each.isprintable() else "?" for each in text)


def _forward(host: Host, program: ListeningProgram) -> None:
    from dynascope.remote.forwarding import forwarded
    from dynascope.wire.attach_configuration import how_to_attach

    rank = "" if program.rank is None else f"rank {program.rank}, "
    named = f"{_shown(program.program) or 'the program'} ({rank}pid {program.pid}) on {host.name}"
    with forwarded(host, program) as (port, process):
        click.echo(f"{named} can be debugged from this machine until you press Ctrl+C here.")
        folder = program.folder if program.folder != os.getcwd() else None
        click.echo(how_to_attach("127.0.0.1", port, f"Attach to {host.name}", folder))
        process.wait()
    raise click.ClickException(f"The connection to {host.name} has ended.")
