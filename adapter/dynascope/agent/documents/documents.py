"""Keep documents of compiles: graphs and their later forms, code that Dynamo generated, resume functions, guards.

A graph is written as text when Dynamo passes it to the backend (8 µs per node), so that no object of the program is
kept alive. Code is kept by weak references; it is disassembled, and its guards are read, on request. Both are bounded:
the oldest are dropped.
"""

from __future__ import annotations

import threading
import types
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from dynascope.agent.internals.frames.resume import compile_name
from dynascope.agent.program.user_code import is_user_code, real_path
from dynascope.wire.beyond_dap import document_path
from dynascope.wire.dap import Source, SourceBody
from dynascope.wire.from_agent import SourcesLoaded
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.events.named_forms import NamedForms
    from dynascope.agent.internals.graph.code import CodeLine, CodePlace

KEPT = 2_000
"""The maximum number of documents listed."""
TEXT_KEPT = 32 << 20
"""The maximum number of characters of graphs and their later forms kept."""
PYTHON = "text/x-python"
PLAIN = "text/plain"
BYTECODE = "text/x-dynascope-bytecode"
"""The extension for VS Code knows it as a language whose margin takes breakpoints."""

_GIVEN_UP = "# This text is no longer kept: later compiles have produced more than {limit:,} characters of graphs.\n"
_CODE_GONE = (
    "This code no longer exists: the program has freed it (a function or module freed, torch._dynamo.reset()).\n"
)


class UnknownDocument(Exception):
    """Raised for a reference to no document, with a text for the user."""


@dataclass(slots=True)
class _Document:
    source: Source
    text: str | None = None
    code: weakref.ref[types.CodeType] | None = None
    generated: weakref.ref[types.CodeType] | None = None
    """The code that Dynamo generated for `code`, if this document shows the two side by side."""
    parts: Mapping[int, str] | None = None
    """The purpose of each part of `generated`, by the offset of its first instruction."""
    guards_of: str | None = None
    """The compile id of `code`'s cache entry whose guards this document shows."""
    compile_id: str = ""
    """The compile of a graph, or of a later form of it."""
    places: list[tuple[CodePlace, ...]] | None = None
    """For each line of `text`, the lines of the program that it comes from."""


class Form(NamedTuple):
    """A graph, or what was made of it: its text in lines, each with the program's lines that it is from."""

    name: str
    compile_id: str
    text: list[str]
    places: list[tuple[CodePlace, ...]]

    @property
    def heading(self) -> str:
        """Return what the text's first line tells of it."""
        return self.text[0].removeprefix("# ").removeprefix(f"{self.name}: ")


class Generated(NamedTuple):
    """Code that Dynamo generated, as one of the documents shows it."""

    source: Source
    code: types.CodeType
    """The function's own code, or the resume function's."""
    generated: types.CodeType
    parts: Mapping[int, str]


class Documents:
    """The documents of a session, added by compiling threads and read by the channel's."""

    def __init__(self, references: Iterator[int], send: Callable[[Message], None]) -> None:
        """Take `references` for the documents' numbers; `send` reports new ones once per compile."""
        self._references = references
        self._send = send
        self._lock = threading.Lock()
        self._documents: OrderedDict[int, _Document] = OrderedDict()
        self._names: Counter[str] = Counter()
        self._text = 0
        self._untold: list[Source] = []

    # ---- compiling threads

    def graph_compiled(self, compile: str, compile_id: str, lines: Iterable[CodeLine]) -> None:
        """Add the graph that the backend gets for a compile: `Model.forward [0/1]`."""
        self._add_lines(f"{compile} graph", "as Dynamo passed it to the backend", compile_id, lines)

    def later_forms(self) -> NamedForms:
        """Return an observer that adds what AOTAutograd and Inductor make of a graph.

        It is written as it is made: what comes from one of torch's caches is told as far as the cache has it.
        """
        from dynascope.agent.events.named_forms import NamedForms
        from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
        from dynascope.agent.internals.graph.code import module_code, value_of_aot

        def is_users(path: str) -> bool:
            return is_user_code(real_path(path))

        def graph(name: str, heading: str, module: Any) -> None:
            text(name, heading, module_code(module, value_of_aot, is_users))

        def text(name: str, heading: str, lines: Iterable[CodeLine]) -> None:
            compile_id, _ = compile_id_and_attempt()
            if compile_id != "?":  # else the graph belongs to no compile of Dynamo
                self._form_made(name, heading, compile_id, lines)

        return NamedForms(is_users, graph, text)

    def _form_made(self, form: str, what: str, compile_id: str, lines: Iterable[CodeLine]) -> None:
        """Add what was made of the graph of a compile: `joint graph`, `output code`."""
        with self._lock:
            known = [each.source.name or "" for each in self._documents.values() if each.compile_id == compile_id]
        frame = known[-1].partition("]")[0] if known else f"compiled code [{compile_id}"
        self._add_lines(f"{frame}] {form}", what, compile_id, lines)
        self._tell()

    def _add_lines(self, name: str, what: str, compile_id: str, lines: Iterable[CodeLine]) -> None:
        texts = [f"# {name}: {what}"]
        places: list[tuple[CodePlace, ...]] = [()]
        for line in lines:
            texts.append(line.text)
            places.append(line.places)
        document = _Document(Source(), "\n".join([*texts, ""]), compile_id=compile_id, places=places)
        self._add(name, "torch.compile: a graph and what was made of it", "py", document)

    def code_generated(
        self,
        code: types.CodeType,
        generated: types.CodeType,
        compile_id: str,
        is_resume: bool,
        parts: Mapping[int, str],
    ) -> None:
        """Add the code that runs for `code` now, its guards, and `code` if Dynamo generated it.

        `parts` says for offsets in `generated` what the instructions from there on are for.
        """
        frame = compile_name(code, compile_id)
        own, made = weakref.ref(code), weakref.ref(generated)
        if is_resume:
            self._add(f"{frame} bytecode", "torch.compile: a resume function", "txt", _Document(Source(), code=own))
        generated_by_dynamo = _Document(Source(), code=own, generated=made, parts=parts)
        self._add(f"{frame} generated bytecode", "torch.compile: generated code", "txt", generated_by_dynamo)
        guards = _Document(Source(), code=own, guards_of=compile_id)
        self._add(f"{frame} guards", "torch.compile: guards", "txt", guards)
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            loaded, self._untold = self._untold, []
            removed = self._make_room()
        self._send(SourcesLoaded(sources=loaded, removed=removed))

    def _add(self, name: str, origin: str, extension: str, document: _Document) -> None:
        with self._lock:
            self._names[name] += 1
            if self._names[name] > 1:  # ids start again after torch._dynamo.reset()
                name = f"{name} ({self._names[name]})"
            reference = next(self._references)
            path = document_path(name, extension)
            document.source = Source(name=name, path=path, source_reference=reference, origin=origin)
            self._documents[reference] = document
            self._untold.append(document.source)
            self._text += len(document.text or "")

    def _make_room(self) -> list[Source]:
        removed = []
        while len(self._documents) > KEPT:
            _, oldest = self._documents.popitem(last=False)
            self._text -= len(oldest.text or "")
            removed.append(oldest.source)
        for document in self._documents.values():
            if self._text <= TEXT_KEPT:
                break
            if document.text is not None and document.code is None:
                self._text -= len(document.text)
                document.text = document.places = None
        return removed

    # ---- channel thread

    def sources(self) -> list[Source]:
        """Return all documents, oldest first."""
        with self._lock:
            return [document.source for document in self._documents.values()]

    def forms(self) -> list[Form]:
        """Return graphs and their later forms, oldest first; one that was given up says so."""
        with self._lock:
            known = [(each, each.text, each.places) for each in self._documents.values() if each.compile_id]
        forms = []
        for document, text, places in known:
            texts = (text or _GIVEN_UP.format(limit=TEXT_KEPT)).removesuffix("\n").split("\n")
            forms.append(Form(document.source.name or "", document.compile_id, texts, places or [()]))
        return forms

    def generated(self) -> list[Generated]:
        """Return the generated code that still exists. Any thread."""
        with self._lock:
            known = list(self._documents.values())
        found = []
        for each in known:
            code = None if each.code is None else each.code()
            generated = None if each.generated is None else each.generated()
            if code is not None and generated is not None:
                found.append(Generated(each.source, code, generated, each.parts or {}))
        return found

    def text(self, reference: int) -> SourceBody:
        """Return the content of a document. Raises UnknownDocument."""
        with self._lock:
            document = self._documents.get(reference)
            if document is None:
                raise UnknownDocument(
                    "This document is no longer kept: it belonged to an older compile or to a stop that has ended."
                )
            text, code, guards_of = document.text, document.code, document.guards_of
        if code is None:
            return SourceBody(content=text or _GIVEN_UP.format(limit=TEXT_KEPT), mime_type=PYTHON)
        existing = code()
        generated = existing if document.generated is None else document.generated()
        if existing is None or generated is None:
            return SourceBody(content=_CODE_GONE, mime_type=PLAIN)
        if document.generated is not None:
            from dynascope.agent.documents.generated_code import side_by_side

            lines = side_by_side(existing, generated, document.parts or {}).lines
            return SourceBody(content="\n".join([*lines, ""]), mime_type=BYTECODE)
        if guards_of is None:
            from dynascope.agent.internals.codegen.generated import listing

            return SourceBody(content=listing(existing), mime_type=PLAIN)
        from dynascope.agent.documents.guard_trees import document_text

        return SourceBody(content=document_text(existing, guards_of), mime_type=PLAIN)
