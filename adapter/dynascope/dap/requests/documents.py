"""Serve `loadedSources`, `source`, `locations` and `modules`: documents, loaded files, and lines of variables."""

from __future__ import annotations

import os.path
from typing import Any

from dynascope.dap.program.program import Program, decode_body
from dynascope.dap.protocol.arguments import LocationsArguments, ModulesArguments, SourceArguments
from dynascope.dap.protocol.call import Body, Call, NoArguments, RequestError
from dynascope.dap.requests.inspection import thread_of
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import DapSession
from dynascope.wire.beyond_dap import FIRST_AGENT_ID
from dynascope.wire.dap import LoadedSourcesBody, LocationsBody, Module, ModulesBody, Source
from dynascope.wire.to_agent import LoadedSources, Locations, Modules, SourceText


@request("loadedSources", NoArguments, cancellable=True)
@capability("supportsLoadedSourcesRequest")
async def loaded_sources(session: DapSession, call: Call[NoArguments]) -> Body:
    """List graphs, generated code and resume functions, then the files of debugpy's modules."""
    program = session.running()
    sources: list[Source] = []
    if program.agent is not None:
        sources += (await program.agent.ask_for(LoadedSourcesBody, LoadedSources())).sources
    return LoadedSourcesBody(sources=sources + await _files_of_modules(program))


async def _files_of_modules(program: Program) -> list[Source]:
    if program.debugpy is None:
        return []
    response = await program.debugpy.request("modules", {})
    modules: list[dict[str, Any]] = decode_body(response).get("modules", []) if response.success else []
    paths = dict.fromkeys(module["path"] for module in modules if os.path.isabs(module.get("path") or ""))
    return [Source(name=os.path.basename(path), path=path) for path in paths]


@request("source", SourceArguments, cancellable=True)
async def source(session: DapSession, call: Call[SourceArguments]) -> Body:
    document = call.arguments.source
    reference = (document.source_reference if document is not None else None) or call.arguments.source_reference or 0
    if reference < FIRST_AGENT_ID:
        return session.pass_to_debugpy(call)
    agent = session.running().agent
    if agent is None:
        raise RequestError("The program has ended, and the document with it.")
    return await agent.ask(SourceText(source_reference=reference))


@request("locations", LocationsArguments, cancellable=True)
async def locations(session: DapSession, call: Call[LocationsArguments]) -> Body:
    """Serve a location reference (DAP 1.68) of a variable; debugpy's variables have none."""
    reference = call.arguments.location_reference
    thread = thread_of(session, reference)
    if thread is None:
        raise RequestError(f"There is no location {reference}.")
    location = await thread.agent.ask_for(
        LocationsBody, Locations(thread_ident=thread.ident, location_reference=reference)
    )
    mapped = session.running().paths.source_to_client(location.source)
    return LocationsBody(source=mapped or location.source, line=location.line)


@request("modules", ModulesArguments, cancellable=True)
@capability("supportsModulesRequest")
async def modules(session: DapSession, call: Call[ModulesArguments]) -> Body:
    """List debugpy's modules, and mark those that Dynamo has traced."""
    program = session.running()
    traced: dict[str, Module] = {}
    if program.agent is not None:
        for module in (await program.agent.ask_for(ModulesBody, Modules())).modules:
            module.path = program.paths.to_client(module.path or "")
            traced[module.path] = module
    listing: list[Any] = []
    if program.debugpy is not None:
        response = await program.debugpy.request("modules", {})
        for row in decode_body(response).get("modules", []) if response.success else ():
            traced_module = traced.pop(row.get("path") or "", None)
            if traced_module is not None:
                row |= {"symbolStatus": traced_module.symbol_status, "isOptimized": True}
            listing.append(row)
    listing += traced.values()
    first, count = call.arguments.start_module or 0, call.arguments.module_count or len(listing)
    return {"modules": listing[first : first + count], "totalModules": len(listing)}
