"""The summary as one self-contained HTML page: no font, no network."""

from __future__ import annotations

import time
from html import escape

from dynascope.facts import model
from dynascope.facts.comparison.sentences import summary as compared_text
from dynascope.facts.recompiles.causes import entries_by_compile, entry_text
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.facts.recompiles.varying import advice, sentence
from dynascope.report.breaks import SITE, Consequence
from dynascope.report.page_frame import framed, where
from dynascope.report.profile.flame import STYLE, flame_graphs
from dynascope.report.profile.measured import Measured
from dynascope.report.sources import CodeFrame, Sources, named
from dynascope.report.summary import Summary


def page(summary: Summary, sources: Sources, times: list[Measured]) -> str:
    """Return the whole page: what the terminal says, in the same order, then every compile."""
    run = summary.first_run
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.began))
    lines = [
        f"{began} · torch {escape(run.torch_version)} {escape(summary.processes)}",
        *([escape(summary.ending)] if summary.ending else []),
        escape(summary.counts) if summary.compiles else "Nothing was compiled in it.",
    ]
    sections = [
        _failures(summary),
        _breaks(summary, sources),
        _recompiles(summary),
        _varying(summary),
        _backend_failures(summary),
        _specializations(summary),
        _uncompiled(summary),
        _slowest(summary, sources),
        flame_graphs(times),
        _compiles(summary),
    ]
    return framed(run.program, "<br>".join(lines), sections, STYLE)


def _failures(summary: Summary) -> str:
    parts = ["<h2>Failed compiles</h2>" if summary.failures else ""]
    for failed in summary.failures:
        each = failed.fact
        parts.append(
            f"<article class=failure>{where(each.path, each.resumes_at or each.line)}"
            f" <code>{escape(named(each.function, each.resumes_at))}</code>"
            f" <span class=dim>{escape(_compile_names(failed.compiles))}</span>"
            f"<pre>{escape(each.failure or '')}</pre></article>"
        )
    return "\n".join(parts)


def _breaks(summary: Summary, sources: Sources) -> str:
    if not summary.breaks:
        return "" if summary.failed or not summary.compiles else "<h2>Graph breaks</h2><p>None.</p>"
    parts = ["<h2>Graph breaks</h2>"]
    for each in summary.breaks:
        fact = each.fact
        title = escape(fact.type)
        if fact.registry_id:
            title = f'<a href="{SITE.format(fact.registry_id.lower())}">{fact.registry_id}</a> {title}'
        hints = _hints(fact.hints)
        parts.append(
            f"<article><b>{title}</b> <span class=dim>{escape(_compile_names(each.compiles))}</span><br>"
            f"{where(fact.path, fact.line)} in <code>{escape(fact.function)}</code>: {each.effect}"
            f"{_code(sources.around(fact.path, fact.line, fact.source, 3))}{escape(fact.explanation)}"
            f"<ul>{hints}</ul>{_consequences(each.led_to)}{_stack(fact.stack)}</article>"
        )
    return "\n".join(parts)


def _hints(hints: list[str]) -> str:
    return "".join(f"<li>{escape(hint)}</li>" for hint in hints)


def _consequences(led_to: list[Consequence]) -> str:
    return "".join(
        f"<p>Led to {escape(each.message.registry_id or '')} <b>{escape(each.message.type)}</b>"
        f" <span class=dim>{escape(_compile_names(each.compiles))}</span>: {escape(each.message.explanation)}"
        f"<ul>{_hints(each.message.hints)}</ul>"
        for each in led_to
    )


def _recompiles(summary: Summary) -> str:
    parts = ["<h2>Recompiles</h2>" if summary.causes else ""]
    for cause in summary.causes:
        fact = cause.first
        limit = " – the recompile limit is reached" if cause.limit_reached else ""
        limit = " – failed too, in other compiles" if cause.is_aside else limit
        shown = cause.others if cause.is_aside else cause.compiles
        met = f"<br>met {escape(readable(cause.name_of_values))}: <code>{escape(', '.join(cause.values))}</code>"
        origins = dict.fromkeys((each.guard_path, each.guard_line) for each in cause.entries)
        origin = "".join(f"<br>guard from {where(path, line)}" for path, line in origins if path and line)
        rows = "".join(
            f"<tr><td>{escape(summary.names[number])}{' was refused' if entries[0].limit_reached else ''}"
            f"<td>{escape(entries[0].value or '')}<td>{'<br>'.join(escape(entry_text(each)) for each in entries)}"
            f"<td>{_difference(summary, number) if number in cause.caused else 'another value caused it'}"
            for number, entries in entries_by_compile(cause)
        )
        parts.append(
            f"<article class=recompile>{where(fact.path, cause.resumes_at or fact.line)}"
            f" <code>{escape(named(fact.function, cause.resumes_at))}</code>"
            f" <span class=dim>{escape(_compile_names([summary.names[each] for each in shown]))}</span>{limit}"
            f"<br>because of <code>{escape(cause.about)}</code>{met if cause.values else ''}{origin}"
            f"<ul>{_hints(cause.hints)}</ul><details><summary>all failed guards, the calls, and what differs</summary>"
            f"<table><tr><th>compile<th>met<th>failed guards<th>against the compile it replaces{rows}</table></details>"
            "</article>"
        )
    return "\n".join(parts)


def _varying(summary: Summary) -> str:
    rows = "".join(
        f'<article class="recompile varying">{where(each.fact.path, each.fact.line)}'
        f" <code>{escape(each.fact.function)}</code>"
        f" <span class=dim>{escape(_compile_names(each.compiles))}</span><br>{escape(sentence(each.fact))}"
        f"<ul>{_hints([advice(each.fact)])}</ul></article>"
        for each in summary.varying
    )
    return f"<h2>Will be compiled again</h2>{rows}" if rows else ""


def _difference(summary: Summary, number: int) -> str:
    rows = list(summary.stories.get(number, ()))
    if number in summary.comparisons:
        rows += compared_text(summary.comparisons[number])[1:]
    return "<br>".join(map(escape, rows))


def _backend_failures(summary: Summary) -> str:
    parts = ["<h2>Backend failures</h2>" if summary.backend_failures else ""]
    for failed in summary.backend_failures:
        each = failed.fact
        parts.append(
            f"<article class=failure>{where(each.path, each.line)} <code>{escape(each.backend)}</code> raised"
            f" {escape(each.exception)} <span class=dim>{escape(_compile_names(failed.compiles))}</span>"
            f"<pre>{escape(each.message.strip())}</pre></article>"
        )
    return "\n".join(parts)


def _specializations(summary: Summary) -> str:
    rows = "".join(
        f"<tr><td>{where(each.fact.path, each.fact.line)}<td>{escape(', '.join(each.fact.origins) or each.fact.symbol)}"
        f" = {escape(each.fact.value)}<td>{escape(_compile_names(each.compiles))}<td>{escape(each.fact.reason)}"
        for each in summary.specializations
    )
    return f"<h2>Specialised</h2><table>{rows}</table>" if rows else ""


def _uncompiled(summary: Summary) -> str:
    rows = "".join(
        f"<tr><td>{where(each.fact.path, each.line)}<td>{escape(named(each.fact.function, each.fact.resumes_at))}"
        f"<td>{escape(_compile_names(each.compiles))}<td>{escape((each.fact.skip_reason or '').strip())}"
        for each in summary.uncompiled
    )
    return f"<h2>Run uncompiled</h2><table>{rows}</table>" if rows else ""


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
        f"<span class=dim>{where(each.path, each.resumes_at or each.line)}</span><td>{each.status}"
        f"<td class=number>{each.nodes}"
        f"<td class=number>{each.seconds:.3f}<td>{escape(_first_line(each.reason or each.skip_reason or each.failure))}"
        for each in summary.compiles
    )
    heads = "<tr><th>id<th>function<th>status<th>nodes<th>seconds<th>why"
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


def _stack(stack: list[model.StackFrame]) -> str:
    rows = "".join(
        f"<div>{where(frame.path, frame.line)} in <code>{escape(frame.function)}</code></div>" for frame in stack
    )
    return f"<details><summary>stack</summary>{rows}</details>" if rows else ""


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]


def _compile_names(compiles: list[str]) -> str:
    named = [each for each in compiles if each]
    return f"×{len(named)} compiles" if len(named) > 3 else ", ".join(named)
