"""Serve the tree of runs: requests of our own, which the view of an editor sends."""

from __future__ import annotations

import json
import sqlite3
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
from dynascope.explain.problem import Place
from dynascope.facts.alignment import Alignment
from dynascope.facts.launches import remove
from dynascope.facts.process_names import compile_names
from dynascope.facts.reader import Reader
from dynascope.facts.store import StoreError
from dynascope.report.profile import measured as profiles

from dynascope_lsp.explorer.generated_rows import document_text, graph_data, made_of_line
from dynascope_lsp.explorer.launch_rows import runs_of_program
from dynascope_lsp.explorer.rows import key_of_launch, launch_of
from dynascope_lsp.explorer.timeline import timeline
from dynascope_lsp.explorer.tree import KeptRuns, Order, rows
from dynascope_lsp.registry import feature
from dynascope_lsp.session import LspSession, path_of

ROWS, LOCATE = "dynascope/rows", "dynascope/locate"
DOCUMENT, GRAPH, MADE_OF_LINE = "dynascope/document", "dynascope/graph", "dynascope/madeOfLine"
RUNS_OF_PROGRAM = "dynascope/runsOfProgram"
TIMELINE, CHROME_TRACE = "dynascope/timeline", "dynascope/chromeTrace"
FORGET = "dynascope/forget"


_kept: WeakKeyDictionary[LspSession, KeptRuns] = WeakKeyDictionary()


class Opening(msgspec.Struct):
    """The parameters of `dynascope/rows`: the keys of the opened row, from the top, and the order of compiles."""

    keys: list[str] = []
    order: Order = "time"


class Located(msgspec.Struct):
    """The parameters of `dynascope/locate`: the key of the launch, and the place of a row in it."""

    key: str
    place: Place


class DocumentParams(msgspec.Struct):
    """The parameters of `dynascope/document` and `graph`: a launch's key, and the id of a document of its rows."""

    key: str
    document: str


class LineParams(msgspec.Struct):
    """The parameters of `dynascope/madeOfLine`: a file, and its present line from 1."""

    uri: str
    line: int


class LaunchParams(msgspec.Struct):
    """The parameters of requests about one run: the key of its launch."""

    key: str


class Forgotten(msgspec.Struct):
    """The parameters of `dynascope/forget`: the key of a launch; without it, all launches."""

    key: str | None = None


@feature(ROWS)
def rows_below(session: LspSession, params: Any) -> list[dict[str, Any]]:
    """Return the rows below a row."""
    opening = msgspec.convert(params, Opening)
    readers = {str(store.path.parent): store.reader for store in session.stores if store.reader is not None}
    kept = _kept.setdefault(session, KeptRuns())
    found: list[dict[str, Any]] = msgspec.to_builtins(rows(readers, opening.keys, opening.order, kept))
    return found


@feature(LOCATE)
def locate(session: LspSession, params: Any) -> int:
    """Return the present line of a recorded one, or the same one where that has changed."""
    located = msgspec.convert(params, Located)
    place, (reader, _, _) = located.place, _run(session, located.key)
    text = session.text_of(place.path)
    if reader is None or text is None:
        return place.line
    if not place.source:
        return session.locate(place.path, place.line) or place.line
    return Alignment(reader.line_hashes(place.source), text.hashes).now(place.line) or place.line


@feature(DOCUMENT)
def document(session: LspSession, params: Any) -> str | None:
    """Return the text of a document; None if nothing is recorded in its folder."""
    opened = msgspec.convert(params, DocumentParams)
    reader, _, launch = _run(session, opened.key)
    return document_text(reader, launch, opened.document) if reader is not None else None


@feature(GRAPH)
def graph(session: LspSession, params: Any) -> dict[str, Any] | None:
    """Return the graphs of a document as data; None if they are not recorded any more."""
    opened = msgspec.convert(params, DocumentParams)
    reader, _, launch = _run(session, opened.key)
    found = graph_data(reader, launch, opened.document) if reader is not None else None
    return msgspec.to_builtins(found) if found is not None else None


@feature(MADE_OF_LINE)
def made_of_the_line(session: LspSession, params: Any) -> list[dict[str, Any]]:
    """Return what the newest run that traced a file has made of a line of it."""
    asked = msgspec.convert(params, LineParams)
    path = path_of(asked.uri)
    view = session.stores.view(path) if path is not None else None
    if path is None or view is None:
        return []
    compiles, runs = view.compiles(), {run.id: run.launch for run in view.reader.runs()}
    launch = runs[max(compiles, key=lambda each: each.began).run]
    own = [each for each in compiles if runs[each.run] == launch]
    folder = next(str(each.path.parent) for each in session.stores if each.reader is view.reader)

    names = compile_names(own, [run for run in view.reader.runs() if run.launch == launch])

    def is_asked(place: tuple[str, int]) -> bool:
        then, line = place
        return view.reader.moved.now(then) == path and session.locate(path, line) == asked.line

    found = made_of_line(view.reader, key_of_launch(folder, launch), own, names, is_asked)
    return [msgspec.to_builtins(each) for each in found]


@feature(RUNS_OF_PROGRAM)
def other_runs(session: LspSession, params: Any) -> dict[str, Any]:
    """Return the name of the run `{"key"}`, and the other runs of its program."""
    reader, folder, launch = _run(session, msgspec.convert(params, LaunchParams).key)
    name, others = runs_of_program(reader, folder, launch) if reader is not None else ("", [])
    return {"name": name, "others": msgspec.to_builtins(others)}


@feature(TIMELINE)
def timeline_of_run(session: LspSession, params: Any) -> dict[str, Any] | None:
    """Return when everything in the run `{"key"}` happened; None if nothing was compiled in it."""
    reader, _, launch = _run(session, msgspec.convert(params, LaunchParams).key)
    found = timeline(reader, launch) if reader is not None else None
    return msgspec.to_builtins(found, str_keys=True) if found is not None else None


@feature(CHROME_TRACE)
def chrome_trace(session: LspSession, params: Any) -> str | None:
    """Return the run `{"key"}` as the text of a Chrome trace; None if nothing was timed in it."""
    reader, _, launch = _run(session, msgspec.convert(params, LaunchParams).key)
    found = profiles.measured(reader, launch) if reader is not None else []
    return json.dumps(profiles.chrome_trace(found)) if found else None


@feature(FORGET)
def forget(session: LspSession, params: Any) -> None:
    """Remove what was recorded: the launch `{"key"}`, or without a key all launches."""
    key = msgspec.convert(params or {}, Forgotten).key
    folder, launch = launch_of(key) if key is not None else (None, None)
    kept = 0
    for store in [each for each in session.stores if each.reader is not None]:
        if folder in (None, str(store.path.parent)):
            try:
                kept += remove(store.path, launch)
            except (StoreError, sqlite3.Error) as error:
                session.warn(f"What was recorded in {store.path.parent} could not be removed: {error}")
    if kept:
        session.warn("What runs now was kept: end it first.")


def _run(session: LspSession, key: str) -> tuple[Reader | None, str, str]:
    """Return the reader of a launch's store, the store's folder and the launch's id."""
    folder, launch = launch_of(key)
    return next((each.reader for each in session.stores if str(each.path.parent) == folder), None), folder, launch
