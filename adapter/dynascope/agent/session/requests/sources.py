"""Requests for documents and modules, the readable results of compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dynascope.agent.documents.documents import PYTHON, UnknownDocument
from dynascope.agent.inspection.disassembly import BadAddress
from dynascope.agent.program.source_lines import memory_sources
from dynascope.agent.session.requests.registry import RequestFailed, serves, serves_at_stop
from dynascope.agent.session.session import AgentSession
from dynascope.wire.dap import DisassembleBody, LoadedSourcesBody, ModulesBody, SourceBody
from dynascope.wire.to_agent import Disassemble, LoadedSources, Modules, SourceText

if TYPE_CHECKING:
    from dynascope.agent.inspection.stop_inspection import StopInspection


@serves(LoadedSources)
def loaded_sources(session: AgentSession, message: LoadedSources) -> LoadedSourcesBody:
    return LoadedSourcesBody(sources=session.loaded_sources.sources())


@serves(SourceText)
def source_text(session: AgentSession, message: SourceText) -> SourceBody:
    text = memory_sources.text(message.source_reference)
    if text is not None:
        return SourceBody(content=text, mime_type=PYTHON)
    try:
        return session.loaded_sources.text(message.source_reference)
    except UnknownDocument as error:
        raise RequestFailed(str(error)) from None


@serves_at_stop(SourceText, thread=lambda session, request: session.stops.thread_of_document(request.source_reference))
def source_text_at_stop(inspection: StopInspection, message: SourceText) -> SourceBody:
    return SourceBody(content=inspection.document_text(), mime_type=PYTHON)


@serves(Modules)
def modules(session: AgentSession, message: Modules) -> ModulesBody:
    return ModulesBody(modules=session.loaded_sources.modules())


@serves(Disassemble)
def disassemble(session: AgentSession, message: Disassemble) -> DisassembleBody:
    try:
        return session.listings.disassemble(message)
    except BadAddress as error:
        raise RequestFailed(str(error)) from None
