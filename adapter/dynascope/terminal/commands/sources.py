"""List and show the documents of compiles: graphs and their later forms, generated code, guards, resume functions."""

from __future__ import annotations

from dynascope.terminal.client import CommandError
from dynascope.terminal.commands import command
from dynascope.terminal.session import TerminalSession
from dynascope.wire.beyond_dap import FIRST_AGENT_ID
from dynascope.wire.dap import LoadedSourcesBody, ModulesBody, Source, SourceBody


@command("sources", usage="[TEXT]")
def sources(session: TerminalSession, argument: str) -> None:
    """List the graphs, generated code, guards and resume functions of every compile so far.

    With TEXT, only those whose names contain it. `source NAME` shows one.
    """
    documents = [source for source in _documents(session) if argument in (source.name or "")]
    for source in documents:
        session.printer.say(f"  {source.name}")
    if not documents:
        session.printer.say("  (nothing has been compiled yet)" if not argument else "  (none)", "dim")


@command("source", usage="NAME", missing="which? `sources` lists them")
def source(session: TerminalSession, argument: str) -> None:
    """Show a graph, generated code, guards or a resume function; a part of the name is enough."""
    matches = [document for document in _documents(session) if argument in (document.name or "")]
    exact = [document for document in matches if document.name == argument]
    if not matches:
        raise CommandError(f"there is no `{argument}`; `sources` lists the documents")
    if len(matches) > 1 and not exact:
        names = ", ".join(f"`{document.name}`" for document in matches[:6])
        raise CommandError(f"which? {names}{' …' if len(matches) > 6 else ''}")
    chosen = (exact or matches)[0]
    body = session.ask("source", {"sourceReference": chosen.source_reference}, SourceBody)
    for line in body.content.splitlines():
        session.printer.say(f"  {line}")


@command("modules", usage="[TEXT]")
def modules(session: TerminalSession, argument: str) -> None:
    """List the files that Dynamo has traced."""
    rows = session.ask("modules", {}, ModulesBody).modules
    traced = [row for row in rows if row.is_optimized and (argument in row.name or argument in (row.path or ""))]
    for module in traced:
        session.printer.say(f"  {module.name}  {module.path}  ({module.symbol_status})")
    if not traced:
        session.printer.say("  (none)", "dim")


def _documents(session: TerminalSession) -> list[Source]:
    loaded = session.ask("loadedSources", {}, LoadedSourcesBody).sources
    return [document for document in loaded if (document.source_reference or 0) >= FIRST_AGENT_ID]
