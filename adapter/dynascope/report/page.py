"""The summary as one self-contained HTML page: no script, no font, no network."""

from __future__ import annotations

import time
from html import escape

from dynascope.facts import break_message, model
from dynascope.facts.guarded_value import readable
from dynascope.facts.recompile_causes import entries_by_compile, entry_text
from dynascope.report.sources import CodeFrame, Sources, named, shown_path
from dynascope.report.summary import Summary
from dynascope.report.terminal import SITE

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --warn: #b8860b; --info: #2a7ab0; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem } h2 { font-size: 1.1rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line) }
pre { background: var(--soft); padding: .5rem; overflow-x: auto; margin: .5rem 0 }
pre b { display: block; background: color-mix(in srgb, var(--warn) 25%, transparent) }
article { border-left: 3px solid var(--warn); padding: .2rem 0 .2rem 1rem; margin: 1.2rem 0 }
article.failure { border-color: #b22 }
article.recompile { border-color: var(--info) } code, pre, td { font-family: ui-monospace, monospace; font-size: 13px }
table { border-collapse: collapse; width: 100% } td, th { padding: .2rem .6rem; text-align: left; vertical-align: top }
tr:nth-child(even) { background: var(--soft) } .dim { opacity: .65 } .number { text-align: right }
"""


def page(summary: Summary, sources: Sources) -> str:
    """Return the whole page."""
    run = summary.first_run
    began = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(run.began))
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(run.program)} – Dynascope</title>",
        f"<style>{_STYLE}</style><h1>{escape(run.program)}</h1>",
        f"<p>{began} · torch {escape(run.torch_version)} {escape(summary.processes)}"
        f"<br>{escape(summary.counts) if summary.compiles else 'Nothing was compiled in it.'}</p>",
        _failures(summary),
        _breaks(summary, sources),
        _recompiles(summary),
        _slowest(summary, sources),
        _compiles(summary),
        "</html>",
    ]
    return "\n".join(parts)


def _failures(summary: Summary) -> str:
    parts = ["<h2>Failed compiles</h2>" if summary.failures else ""]
    for each in summary.failures:
        parts.append(
            f"<article class=failure>{_where(each.path, each.resumes_at or each.line)}"
            f" <code>{escape(named(each.function, each.resumes_at))}</code>"
            f" <span class=dim>{escape(summary.names[each.id])}</span><pre>{escape(each.failure or '')}</pre></article>"
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
            f"{_where(fact.path, fact.line)} in <code>{escape(fact.function)}</code>"
            f"{_code(sources.around(fact.path, fact.line, fact.source, 3))}{escape(fact.explanation)}"
            f"<ul>{hints}</ul>{_consequences(fact)}{_stack(fact.stack)}</article>"
        )
    return "\n".join(parts)


def _hints(hints: list[str]) -> str:
    return "".join(f"<li>{escape(hint)}</li>" for hint in hints)


def _consequences(fact: model.GraphBreak) -> str:
    return "".join(
        f"<p>Led to {escape(each.registry_id or '')} <b>{escape(each.type)}</b>: {escape(each.explanation)}"
        f"<ul>{_hints(each.hints)}</ul>"
        for each in break_message.consequences(fact.reason)
    )


def _recompiles(summary: Summary) -> str:
    parts = ["<h2>Recompiles</h2>" if summary.causes else ""]
    for cause in summary.causes:
        fact = cause.first
        limit = " – the recompile limit is reached" if cause.limit_reached else ""
        met = f"<br>met {escape(readable(cause.name_of_values))}: <code>{escape(', '.join(cause.values))}</code>"
        origins = dict.fromkeys((each.guard_path, each.guard_line) for each in cause.entries)
        origin = "".join(f"<br>guard from {_where(path, line)}" for path, line in origins if path and line)
        rows = "".join(
            f"<tr><td>{escape(summary.names[number])}{' was refused' if entries[0].limit_reached else ''}"
            f"<td>{escape(entries[0].value or '')}<td>{'<br>'.join(escape(entry_text(each)) for each in entries)}"
            for number, entries in entries_by_compile(cause)
        )
        parts.append(
            f"<article class=recompile>{_where(fact.path, cause.resumes_at or fact.line)}"
            f" <code>{escape(named(fact.function, cause.resumes_at))}</code>"
            f" <span class=dim>{escape(_compile_names([summary.names[each] for each in cause.compiles]))}</span>{limit}"
            f"<br>because of <code>{escape(cause.about)}</code>{met if cause.values else ''}{origin}"
            f"<ul>{_hints(cause.hints)}</ul><details><summary>all failed guards</summary>"
            f"<table><tr><th>compile<th>met<th>failed guards{rows}</table></details></article>"
        )
    return "\n".join(parts)


def _slowest(summary: Summary, sources: Sources) -> str:
    rows = "".join(
        f"<tr><td class=number>{each.seconds * 1e3:.1f} ms<td>{_where(each.path, each.line)}"
        f"<td>{escape(sources.line(each.path, each.line))}"
        for each in summary.slowest_lines
    )
    return f"<h2>Slowest lines to trace</h2><table>{rows}</table>" if rows else ""


def _compiles(summary: Summary) -> str:
    rows = "".join(
        f"<tr><td>{escape(summary.names[each.id] or '–')}<td>{escape(named(each.function, each.resumes_at))}<br>"
        f"<span class=dim>{_where(each.path, each.resumes_at or each.line)}</span><td>{each.status}"
        f"<td class=number>{each.nodes}"
        f"<td class=number>{each.seconds:.3f}<td>{escape(each.reason or each.skip_reason or each.failure or '')}"
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
        f"<div>{_where(frame.path, frame.line)} in <code>{escape(frame.function)}</code></div>" for frame in stack
    )
    return f"<details><summary>stack</summary>{rows}</details>" if rows else ""


def _where(path: str, line: int | None) -> str:
    return f'<span title="{escape(path)}">{escape(shown_path(path))}:{line}</span>'


def _compile_names(compiles: list[str]) -> str:
    named = [each for each in compiles if each]
    return f"×{len(named)} compiles" if len(named) > 3 else ", ".join(named)
