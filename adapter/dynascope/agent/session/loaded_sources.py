"""The loaded sources of a session: it receives graphs and generated code, and names them.

Imports no torch before `attach`, which is called when the program imports torch._dynamo.
"""

from __future__ import annotations

import sys
import threading
import types
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dynascope.agent.documents.documents import Documents
from dynascope.agent.documents.form_answers import answer
from dynascope.agent.events.hook_failures import HookFailures, contained
from dynascope.agent.program.user_code import is_user_code, real_path
from dynascope.agent.suspension.stops import CompileStops
from dynascope.agent.tracing.stop_check import CompileOutcome, TraceObserver
from dynascope.facts.file_names import short_name
from dynascope.wire.dap import Module, Source, SourceBody
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.events.wrapping import Events
    from dynascope.agent.internals.codegen.codegen import EndedGraph
    from dynascope.agent.tracing.hook import Hook

_FAILED = "dynascope failed to keep what a compile made for reading; the compile continues.\n"


class LoadedSourceDocuments(TraceObserver):
    """Keep the documents of one session."""

    def __init__(self, stops: CompileStops, send: Callable[[Message], None]) -> None:
        self._stops = stops
        self.documents = Documents(stops.source_references, send)
        self._hook: Hook | None = None
        self._hooks: list[Events] = []
        self._ended = threading.local()
        """`parts`: the instructions around the graph that ended last on this thread, and what each is for."""
        self.failures = HookFailures(
            lambda trace: send(ConsoleOutput(category="important", output=_FAILED + trace)), "documents"
        )
        self._traced: Counter[str] = Counter()

    def attach(self, hook: Hook) -> None:
        """Collect documents of compiles from now on. torch._dynamo is imported and hooked."""
        from dynascope.agent.events.codegen import CodegenEvents
        from dynascope.agent.events.graphs import GraphHook, hooks
        from dynascope.agent.events.guards import BuildEvents

        self._hook = hook
        hook.compiles.observe(self)
        failures = self.failures
        self._hooks += [GraphHook(self._graph_done, failures), CodegenEvents(self._graph_ended, failures)]
        self._hooks += [BuildEvents(failures), *hooks(self.documents.later_forms(), failures)]

    def detach(self) -> None:
        """Stop collecting; existing documents are kept."""
        self._hook = None
        for hook in self._hooks:
            hook.remove()

    def sources(self) -> list[Source]:
        """Return all documents that exist now. Any thread."""
        return self.documents.sources() + self._stops.documents()

    def text(self, reference: int) -> SourceBody:
        """Return the text of a document outside a stop. Raises UnknownDocument. Any thread."""
        return self.documents.text(reference)

    def forms(self, question: str) -> str:
        """Answer a question about graphs and their later forms. Raises BadCommand. Any thread."""
        return answer(self.documents.forms(), question)

    def modules(self) -> list[Module]:
        """Return the files that Dynamo has traced, with their numbers of compiles. Any thread."""
        traced = Counter(self._traced)
        for codes in self._hook.threads.traced_by_compiles() if self._hook is not None else ():
            traced.update(_files(codes))
        names = {getattr(module, "__file__", None): name for name, module in list(sys.modules.items())}
        return [
            Module(
                id=f"traced {path}",
                name=names.get(path) or short_name(path).removesuffix(".py"),
                path=path,
                is_optimized=True,
                is_user_code=is_user_code(real_path(path)),
                symbol_status=f"traced in {count} compile{'s' if count > 1 else ''}",
            )
            for path, count in traced.items()
        ]

    # ---- compiling threads

    def compile_ended(self, outcome: CompileOutcome) -> None:
        self._traced.update(_files(outcome.traced))

    def _graph_done(self, module: Any) -> None:
        from dynascope.agent.internals.compile import compile_context
        from dynascope.agent.internals.frames import translators
        from dynascope.agent.internals.frames.resume import compile_name
        from dynascope.agent.internals.graph import code as graph_code

        state = self._hook.threads.existing() if self._hook is not None else None
        if state is None or state.outermost is None:
            return
        compile_id, _ = compile_context.compile_id_and_attempt()
        state.begin_compile().backend = compile_context.backend_name(translators.output_of(state.outermost))
        lines = graph_code.module_code(module, graph_code.value_of_dynamo, lambda path: is_user_code(real_path(path)))
        self.documents.graph_compiled(compile_name(translators.code_of(state.outermost), compile_id), compile_id, lines)

    def _graph_ended(self, ending: EndedGraph) -> None:
        from dynascope.agent.inspection.scopes.codegen import purposes_of
        from dynascope.agent.internals.frames.translators import code_of

        self._ended.parts = code_of(ending.frames[-1].translator), purposes_of(ending)

    @contained
    def code_generated(self, code: types.CodeType, generated: types.CodeType, compile_id: str) -> None:
        from dynascope.agent.internals.frames import resume

        ended, parts = vars(self._ended).pop("parts", (None, ()))
        by_offset = {each.offset: part for each, part in parts if ended is code and each.offset is not None}
        self.documents.code_generated(code, generated, compile_id, resume.is_resume_function(code), by_offset)


def _files(codes: Iterable[types.CodeType]) -> set[str]:
    """Return the files of code that has one."""
    return {code.co_filename for code in codes if not code.co_filename.startswith("<")}
