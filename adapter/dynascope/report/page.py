"""The summary as one self-contained HTML page: no font, no network."""

from __future__ import annotations

import time
from html import escape

from dynascope.explain.comparison import summary as compared_text
from dynascope.explain.compiles import NOTHING, ended, several, totals, why
from dynascope.explain.endings import ending
from dynascope.explain.graph_breaks import registry_page
from dynascope.explain.of_launch import HEADINGS, LABELS
from dynascope.explain.problem import Note, NoteKind, Place, Problem, ProblemKind, named
from dynascope.report.page_frame import framed, where
from dynascope.report.profile.flame import STYLE, flame_graphs
from dynascope.report.profile.measured import Measured
from dynascope.report.sources import CodeFrame, Sources
from dynascope.report.summary import Summary

_TABLES: tuple[ProblemKind, ...] = ("specialization", "skippedFrame")
_TORCHS_TEXT: tuple[ProblemKind, ...] = ("failedCompile", "backendFailure")
_FOLDED: tuple[NoteKind, ...] = ("caller", "more callers", "more chains", "compile")
_CLASSES: dict[ProblemKind, str] = {
    "failedCompile": "failure",
    "backendFailure": "failure",
    "recompile": "recompile",
    "willRecompile": '"recompile varying"',
}


def page(summary: Summary, sources: Sources, times: list[Measured]) -> str:
    """Return the whole page: what the terminal says, in the same order, then every compile."""
    run = summary.first_run
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.began))
    lines = [
        f"{began} · torch {escape(run.torch_version)} {escape(summary.processes)}",
        escape(ending(summary.runs, {each.run for each in summary.compiles})),
        escape(totals(summary.compiles, summary.problems)) if summary.compiles else f"{NOTHING.capitalize()}.",
    ]
    sections = [
        *(_section(kind, heading, summary, sources) for kind, heading in HEADINGS.items()),
        _slowest(summary, sources),
        flame_graphs(times),
        _compiles(summary),
    ]
    return framed(run.program, "<br>".join(filter(None, lines)), sections, STYLE)


def _section(kind: ProblemKind, heading: str, summary: Summary, sources: Sources) -> str:
    found = summary.of_kind(kind)
    if not found:
        return f"<h2>{heading}</h2><p>None.</p>" if kind == "graphBreak" and summary.is_whole else ""
    if kind in _TABLES:
        rows = "".join(
            f"<tr><td>{_place(each.place)}<td>{escape(each.whose)}<td>{escape(each.cause)}"
            f"<td>{escape(_compile_names(each.compiles, summary))}<td>{escape(each.statement)}"
            for each in found
        )
        return f"<h2>{heading}</h2><table>{rows}</table>"
    return "\n".join([f"<h2>{heading}</h2>", *(_problem(each, summary, sources) for each in found)])


def _problem(each: Problem, summary: Summary, sources: Sources) -> str:
    registered = each.registry_id and f'<a href="{registry_page(each.registry_id)}">{each.registry_id}</a> '
    label = f"{LABELS[each.kind]}: " if each.kind == "recompileLimit" else ""
    effect = f": {escape(each.effect)}" if each.effect else ""
    code = sources.around(each.place.path, each.place.line, each.place.source, 3)
    cause = f"<code>{escape(each.cause)}</code>" if each.section == "recompile" else f"<b>{escape(each.cause)}</b>"
    text = "".join(f"<p>{escape(detail)}</p>" for detail in each.details)
    if each.section in _TORCHS_TEXT:
        more = each.statement.removeprefix(each.cause).strip()
        text = f"<pre>{escape(more)}</pre>" if more else ""
    return (
        f"<article class={_CLASSES.get(each.section, 'break')}>{_place(each.place)} {_whose(each)}"
        f" <span class=dim>{escape(_compile_names(each.compiles, summary))}</span><br>"
        f"{registered or ''}{label}{each.because}{cause}{effect}"
        f"{_code(code) if each.kind == 'graphBreak' else ''}{text}<ul>{_remedies(each.remedies)}</ul>"
        f"{''.join(_note(note, summary) for note in each.notes if note.kind not in _FOLDED)}"
        f"{_stack(each)}{_table_of_compiles(each, summary)}</article>"
    )


def _whose(each: Problem) -> str:
    name = each.whose.removeprefix("in ")
    return f"{'in ' if name != each.whose else ''}<code>{escape(name)}</code>" if name else ""


def _remedies(remedies: list[str]) -> str:
    return "".join(f"<li>{escape(each)}</li>" for each in remedies)


def _note(note: Note, summary: Summary) -> str:
    place = f" {_place(note.place)}" if note.place is not None else ""
    subject = f" <b>{escape(note.subject)}</b>" if note.subject else ""
    compiles = f" <span class=dim>{escape(_compile_names(note.compiles, summary))}</span>" if note.compiles else ""
    details = f": {escape(' '.join(note.details))}" if note.details else ""
    remedies = f"<ul>{_remedies(note.remedies)}</ul>" if note.remedies else ""
    return f"<div>{note.text}{place}{subject}{compiles}{details}{remedies}</div>"


def _stack(each: Problem) -> str:
    rows = "".join(
        f"<div>{note.text}{f' {_place(note.place)} in <code>{escape(note.subject)}</code>' if note.place else ''}</div>"
        for note in each.notes
        if note.kind in ("caller", "more callers", "more chains")
    )
    return f"<details><summary>callers</summary>{rows}</details>" if rows else ""


def _table_of_compiles(each: Problem, summary: Summary) -> str:
    rows = "".join(
        f"<tr><td>{escape(summary.names[number])}<td>{escape(note.text)}<td>{'<br>'.join(map(escape, note.details))}"
        f"<td>{_difference(summary, number) if note.is_cause else 'another value caused it'}"
        for note in each.notes
        if note.kind == "compile"
        for number in note.compiles
    )
    heads = "<tr><th>compile<th>what it is<th>failed guards<th>against the compile it replaces"
    summary_text = "<summary>all failed guards, the calls, and what differs</summary>"
    return f"<details>{summary_text}<table>{heads}{rows}</table></details>" if rows else ""


def _difference(summary: Summary, number: int) -> str:
    rows = list(summary.stories.get(number, ()))
    if number in summary.comparisons:
        rows += compared_text(summary.comparisons[number])[1:]
    return "<br>".join(map(escape, rows))


def _slowest(summary: Summary, sources: Sources) -> str:
    rows = "".join(
        f"<tr><td class=number>{each.seconds * 1e3:.1f} ms<td>{where(each.path, each.line)}"
        f"<td>{escape(sources.line(each.path, each.line))}"
        for each in summary.slowest_lines
    )
    return f"<h2>Slowest lines to trace</h2><table>{rows}</table>" if rows else ""


def _compiles(summary: Summary) -> str:
    rows = "".join(
        f"<tr><td>{escape(summary.names[each.id] or '–')}<td>{escape(named(each.function, each.resumes_at))}<br>"
        f"<span class=dim>{where(each.path, each.resumes_at or each.line)}</span><td>{ended(each)}"
        f"<td class=number>{each.nodes}"
        f"<td class=number>{each.seconds:.3f}<td>{escape(why(each))}"
        for each in summary.compiles
    )
    heads = "<tr><th>id<th>function<th>result<th>nodes<th>seconds<th>why"
    return f"<h2>Compiles</h2><table>{heads}{rows}</table>"


def _code(frame: CodeFrame | None) -> str:
    if frame is None:
        return ""
    rows = []
    for number, text in enumerate(frame.lines, frame.first_line):
        row = f"{number:5} {escape(text)}"
        rows.append(f"<b>{row}</b>" if number == frame.line else row + "\n")
    stale = "<p class=dim>The line has changed since.</p>" if frame.stale else ""
    return f"<pre>{''.join(rows)}</pre>{stale}"


def _place(place: Place) -> str:
    return where(place.path, place.line)


def _compile_names(compiles: list[int], summary: Summary) -> str:
    return several(summary.names[number] for number in compiles)
