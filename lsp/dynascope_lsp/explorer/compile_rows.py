"""Make the row of a compile, and the rows below it: what went wrong first, then its graph, guards, calls, times."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from dynascope.explain.comparison import first_difference, summary
from dynascope.explain.compiles import ended, told, told_of_symbol
from dynascope.explain.of_launch import ProblemsOfLaunch
from dynascope.explain.problem import named, where
from dynascope.explain.recompiles import story
from dynascope.explain.where_time_went import LEAST_SHARE
from dynascope.facts import model
from dynascope.facts.comparison.recorded import compared_with_replaced
from dynascope.facts.counts import counted, seconds
from dynascope.facts.launches import Launch, seconds_by_compile
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause
from dynascope.facts.recompiles.guarded_value import readable

from dynascope_lsp.explorer.generated_rows import generated_rows
from dynascope_lsp.explorer.launch_rows import section
from dynascope_lsp.explorer.rows import ExplorerRow, Severity, at, problem_row
from dynascope_lsp.explorer.time_rows import bar, slow_lines

_BEFORE_DIFFERENCES = ("failedCompile", "graphBreak", "recompile", "recompileLimit", "alsoFailed")


def compile_row(each: model.Compile, breaks: int, name: str) -> ExplorerRow:
    """Return a compile, named by its id or by a name that says of which rank it is."""
    line = each.resumes_at or each.line
    icon, severity = _icon(each, breaks)
    parts = [
        where(each.path, line),
        counted(breaks, "graph break") if breaks else "",
        ended(each) if each.status == "captured" else "",
        seconds(each.seconds),
    ]
    return ExplorerRow(
        key=f"compile:{each.id}",
        label=f"{f'[{name}] ' if name else ''}{named(each.function, each.resumes_at)}",
        description="  ".join(filter(None, parts)),
        tooltip="\n".join(told(each)),
        icon=icon,
        severity=severity,
        place=at(each.path, line, each.source),
        is_lazy=True,
    )


def rows_of_part(
    reader: Reader, launch: Launch, part: str, compiles: Iterable[model.Compile], names: Mapping[int, str]
) -> list[ExplorerRow]:
    """Return the compiles that spent time in a part; of Dynamo also its slowest lines."""
    spent, found = seconds_by_compile(reader, launch.name, part), []
    if part == "Dynamo" and (lines := slow_lines(reader.facts("line_times", launch.name), launch.whole)):
        found.append(section("slowest:", "Slowest Lines to Trace", len(lines), "watch"))
    most = sorted((each for each in compiles if each.id in spent), key=lambda each: -spent[each.id])
    for each in [each for each in most if spent[each.id] >= LEAST_SHARE * launch.whole]:
        row = compile_row(each, 0, names[each.id])
        row.label = f"{bar(spent[each.id], launch.whole)} {row.label}"
        row.description = f"{seconds(spent[each.id])}  {where(each.path, each.resumes_at or each.line)}"
        row.icon = row.severity = ""
        found.append(row)
    return found


def rank(each: model.Compile, breaks: int) -> int:
    """Return how severe a compile is: failed, with graph breaks, compiled again, others."""
    return 3 if each.status == "failed" else 2 if breaks else 1 if each.reason else 0


def rows_of_compile(reader: Reader, launch: str, number: int) -> list[ExplorerRow]:
    """Return what is below a compile."""
    facts = reader.compile(number)
    if facts is None:
        return []
    each, found = facts.compile, ProblemsOfLaunch(reader, launch)
    nameless: dict[int, str] = {}  # it is above: no row names it again
    causing, problems = found.causes_of(number), found.of_compile(facts)
    of_run = reader.compiles_of(each.run)  # another run may be shown for it by now
    rows = [
        *(_without_compiles(problem_row(one, nameless)) for one in problems if one.kind in _BEFORE_DIFFERENCES),
        *_call_rows(reader, facts, causing, of_run),
        *_difference_rows(reader, each, of_run),
        *(problem_row(one, nameless) for one in problems if one.kind not in _BEFORE_DIFFERENCES),
    ]
    calls = [call for call in facts.calls if call.parent is not None]
    lines = slow_lines(facts.line_times, each.seconds)
    sections = [
        section(f"guards:{number}", "Guards", len(facts.guards), "shield"),
        section(f"symbols:{number}", "Symbols", len(facts.symbols), "symbol-numeric"),
        section(f"calls:{number}", "Functions Traced Inline", len(calls), "symbol-method"),
        section(f"time:{number}", "Where the Time Went", None if reader.profiles(number) else 0, "clock"),
        section(f"lines:{number}", "Slowest Lines to Trace", len(lines), "watch"),
    ]
    return [*rows, *generated_rows(reader, each), *(row for row in sections if row.is_lazy)]


def guard_rows(facts: model.CompileFacts) -> list[ExplorerRow]:
    return [
        ExplorerRow(
            key=f"guard:{order}",
            label=readable(each.expression) or each.kind,
            description="  ".join(
                [
                    *([each.kind] if each.expression else []),
                    *([where(each.path, each.line)] if each.path else map(readable, each.code[:1])),
                ]
            ),
            tooltip="\n".join([each.kind, *each.code]),
            icon="shield",
            place=at(each.path, each.line, each.source),
        )
        for order, each in enumerate(facts.guards)
    ]


def symbol_rows(facts: model.CompileFacts) -> list[ExplorerRow]:
    rows = []
    for each in facts.symbols:
        told = told_of_symbol(each)
        rows.append(
            ExplorerRow(
                key=f"symbol:{each.name}",
                label=f"{each.name} {told[0]}",
                description="  ".join(told[1:]),
                tooltip="\n".join(told),
                icon="symbol-numeric",
                place=at(each.path, each.line, each.source),
            )
        )
    return rows


def call_rows(facts: model.CompileFacts, parent: int = 0) -> list[ExplorerRow]:
    """Return the functions that a traced function called, each with those that it called."""
    return [
        ExplorerRow(
            key=f"call:{each.id}",
            label=each.function,
            description=f"{where(each.path, each.line)}{f'  ×{each.count}' if each.count > 1 else ''}",
            tooltip=f"called from {where(each.call_path, each.call_line)}" if each.call_path and each.call_line else "",
            icon="symbol-method",
            place=at(each.path, each.line, each.source),
            children=call_rows(facts, each.id),
        )
        for each in facts.calls
        if each.parent == parent
    ]


def _without_compiles(row: ExplorerRow) -> ExplorerRow:
    row.children = [each for each in row.children if not each.is_lazy]
    return row


def _call_rows(
    reader: Reader, facts: model.CompileFacts, found: list[Cause], compiles: list[model.Compile]
) -> list[ExplorerRow]:
    """Return the call that was compiled again, with the arguments that differ."""
    call, cause = facts.call, next((each for each in found if not each.is_aside), None)
    if call is None or cause is None or not call.path:
        return []
    sentences = story(reader, cause, facts.compile.id, compiles, reader.runs(), os.path.basename)
    return [
        ExplorerRow(
            key="call",
            label=f"Called by {call.function}",
            description="  ".join([where(call.path, call.line), *sentences[1:]]),
            tooltip="\n".join(sentences),
            icon="call-incoming",
            place=at(call.path, call.line),
        )
    ]


def _difference_rows(reader: Reader, each: model.Compile, compiles: list[model.Compile]) -> list[ExplorerRow]:
    found = compared_with_replaced(reader, each, compiles) if each.reason else None
    if found is None:
        return []
    first = found.comparison.first
    return [
        ExplorerRow(
            key="difference",
            label=f"Differs from {found.comparison.left.name}",
            description=first_difference(found.comparison),
            tooltip="\n".join(summary(found)),
            icon="diff",
            place=at(first.place.path, first.place.line) if first is not None else None,
        )
    ]


def _icon(each: model.Compile, breaks: int) -> tuple[str, Severity]:
    if each.status == "failed":
        return "error", "error"
    if breaks:
        return "warning", "warning"
    return ("sync", "information") if each.reason else ("pass", "success")
