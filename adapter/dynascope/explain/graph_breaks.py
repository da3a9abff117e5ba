"""Make the problems of graph breaks: equal ones of several compiles are one, with what it led to in which of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import structs

from dynascope.explain.break_remedies import advice_of_torch, break_remedies
from dynascope.explain.details import callers, effect, is_torch
from dynascope.explain.problem import (
    RECORDED,
    Identities,
    Note,
    Place,
    Positions,
    Problem,
    at_lines,
    compiles_of,
    fitting,
    listed,
    same_text,
    where,
)
from dynascope.facts import model
from dynascope.facts.break_message import brief, consequences
from dynascope.facts.break_subject import Broken, subject_of
from dynascope.facts.counts import counted
from dynascope.facts.distinct import Distinct

SITE = "https://meta-pytorch.github.io/compile-graph-break-site/gb/{}.html"
"""The address of PyTorch's page about one type of graph break."""
Breaks = Sequence[Distinct[model.GraphBreak]]
_CALLED = "what runs uncompiled calls {}, which is compiled by itself"
_ALL_CALLED = "what runs uncompiled calls {}, which are compiled by themselves"
Symbols = Callable[[int, str], model.Symbol | None]
"""Return the symbol of a compile that has this name."""
_DATA_DEPENDENT = re.compile(r"\b[uz]\w*\d+\b")
_EXPRESSION = "data-dependent expression"
_WHOLE: model.BreakEffect = "function uncompiled"
_UNCOMPILED = (_WHOLE, "rest uncompiled")
_MOST_COMPILES = 5000
"""The most compiles of a launch for which calls are read: each call is a query."""
_AT_REST = "Reconstruction failure"
"""The type of break at a value that the rest of a function needs, and that no bytecode can make again (GB0092)."""
_RESUMED = re.compile(r"torch_dynamo_resume_in_(\w+?)_at_\d+")
_REST = "rest of "
_SHORT = {
    "Attempted to call function marked as skipped": "it is marked as skipped",
    "Skip calling `torch.compiler.disable()`d function": "it is disabled",
    "Failed to convert args/kwargs to proxy": "no graph takes it",
}
"""Shorter texts for types of graph breaks with which a title is too long."""
_UNSUPPORTED = re.compile(r"Unsupported (\S+\(\)) call")


def title(found: Broken) -> str:
    """Return what a break is called in one line."""
    subject, short = subject_of(found), _SHORT.get(found.type)
    if not subject:
        called = _UNSUPPORTED.match(found.type)
        return fitting(f"Graph break: {found.type}", *([f"Graph break at {called[1]}"] if called else []))
    at = f"Graph break at {subject}"
    return fitting(f"{at}: {found.type}", *([f"{at}: {short}"] if short else []), at)


def registry_page(registry_id: str) -> str:
    """Return the address of the registry's page about a break id, such as `GB0170`."""
    return SITE.format(registry_id.lower())


def graph_breaks(
    found: Iterable[Distinct[model.GraphBreak]],
    compiles: Mapping[int, model.Compile],
    identities: Identities,
    positions: Positions = RECORDED,
    symbols: Symbols = lambda compile, name: None,
) -> list[Problem]:
    """Return a problem for each line and type of break, the first one first.

    `compiles` are by number; what comes of a break may depend on its own.
    """
    found = [*found]
    at_rest = [each for each in found if each.fact.type == _AT_REST]
    left = [_left(each, at_rest) for each in found]
    groups = at_lines(left, positions, lambda each: (each.fact.type, same_text(each.fact.explanation)))
    # what follows from a break is in later compiles: of the functions that it leaves uncompiled, and of the rest
    groups.sort(key=lambda group: min(compiles_of(group[1])))
    problems = [_problem(line, same, compiles, identities, positions, symbols) for line, same in groups]
    _set_breaks_at_rest(problems)
    return problems


def _left(each: Distinct[model.GraphBreak], at_rest: Breaks) -> Distinct[model.GraphBreak]:
    """Return a break with what comes of it where Dynamo could not resume after it."""
    for rest in at_rest:
        if rest is not each and _is_handled(each.fact, rest.fact) and {*each.compiles} <= {*rest.compiles}:
            return Distinct(structs.replace(each.fact, effect=rest.fact.effect), each.compiles)
    return each


def _is_handled(broken: model.GraphBreak, rest: model.GraphBreak) -> bool:
    """Whether `rest` was met while Dynamo handled another break."""
    return broken.effect == "resumed" and (broken.path, broken.line) == (rest.path, rest.line)


def _set_breaks_at_rest(problems: Sequence[Problem]) -> None:
    """Say of breaks at values that cannot be made again which break was handled then."""
    for each in problems:
        before = next((one for one in problems if one is not each and _is_before(one, each)), None)
        if each.cause == _AT_REST and before is not None:
            set_root(each, before)


def set_root(problem: Problem, broken: Problem) -> None:
    """Say of a problem that it follows from a graph break."""
    problem.root = broken.id
    problem.notes.append(Note(kind="root", text="follows from the graph break at", place=broken.place))


def _is_before(one: Problem, rest: Problem) -> bool:
    return one.cause != _AT_REST and one.place == rest.place and {*rest.compiles} <= {*one.compiles}


def _problem(
    line: int,
    same: Breaks,
    compiles: Mapping[int, model.Compile],
    identities: Identities,
    positions: Positions,
    symbols: Symbols,
) -> Problem:
    fact = same[0].fact
    recorded = Place(fact.path, fact.line, fact.source)
    comes_of_it = _effects(same, compiles, positions)
    name = " ".join(filter(None, [fact.registry_id, fact.type]))
    text = fact.explanation or brief(fact.reason)
    if fact.type in text.partition("\n")[0]:
        text = text.partition("\n")[2].strip()
    return Problem(
        id=identities.of("graphBreak", recorded, fact.function, fact.registry_id or fact.type, fact.registry_id or ""),
        kind="graphBreak",
        cause=fact.type,
        title=title(fact),
        subject=subject_of(fact),
        place=Place(fact.path, line, fact.source),
        function=fact.function,
        effect=comes_of_it,
        statement=f"{name}: {comes_of_it}.",
        details=[*([text] if text else []), *advice_of_torch(fact)],
        remedies=break_remedies(fact),
        notes=[*_led_to(same), *_origins(same[0], symbols), *callers(fact), *_more_chains(same)],
        compiles=compiles_of(same),
        count=sum(each.fact.count for each in same),
        leaves=compiles_of(each for each in same if each.fact.effect in _UNCOMPILED),
        registry_id=fact.registry_id,
        is_error=any(each.fact.effect == "raised" for each in same),
    )


def set_called(
    breaks: Sequence[Problem],
    compiles: Mapping[int, model.Compile],
    call: Callable[[int], model.CompiledCall | None],
) -> None:
    """Say of breaks which functions are compiled by themselves because of them.

    They are called at a line at which a graph breaks, for a callee breaks it, or in a function that a break leaves
    uncompiled; else they would be part of another graph. `call` returns the call for which a function was compiled.
    """
    if not breaks or len(compiles) > _MOST_COMPILES:
        return
    called: dict[int, model.CompiledCall] = {}
    by_line: dict[tuple[int, str, int], list[int]] = {}
    by_caller: dict[_Caller, list[int]] = {}
    for each in compiles.values():
        found = call(each.id) if each.resumes_at is None and each.status != "skipped" else None
        if found is not None and found.path:
            called[each.id] = found
            by_line.setdefault((each.run, found.path, found.line), []).append(each.id)
            by_caller.setdefault(_caller(each.run, found.path, found.function), []).append(each.id)
    for one in breaks:
        own = {*one.compiles}
        lines = {
            (compiles[number].run, *line) for number in own & called.keys() for line in _below(one, called[number])
        }
        one.calls = [number for line in sorted(lines) for number in by_line.get(line, ())]
        left = {(each.run, each.path, _left_name(each)) for each in map(compiles.get, one.leaves) if each is not None}
        there = [number for each in sorted(left) for number in by_caller.get(each, ()) if number not in own]
        one.leads_to = sorted({*one.calls, *there})
        names = list(dict.fromkeys(compiles[number].function for number in there if number not in one.calls))
        if names:
            text = (_CALLED if len(names) == 1 else _ALL_CALLED).format(listed(names))
            one.notes.append(Note(kind="calls", text=text))


_Caller = tuple[int, str, str]
"""A run, a file, and the name of a function in it."""


def _caller(run: int, path: str, name: str) -> _Caller:
    """Return the function that calls.

    The part of a function that follows a break has a name that torch makes.
    """
    resumed = _RESUMED.search(name)
    return run, path, name if resumed is None else f"{_REST}{resumed[1]}"


def _left_name(compile: model.Compile) -> str:
    return compile.function if compile.resumes_at is None else f"{_REST}{compile.function.rpartition('.')[2]}"


def _below(broken: Problem, root: model.CompiledCall) -> list[tuple[str, int]]:
    """Return the lines of a break's callers from the compiled function inward."""
    places = [(place.path, place.line) for place in broken.callers]
    return places[: places.index((root.path, root.line))] if (root.path, root.line) in places else []


def _effects(same: Breaks, compiles: Mapping[int, model.Compile], positions: Positions) -> str:
    """Return what comes of a break; where that differs, with the number of the compiles."""
    found: dict[tuple[model.BreakEffect, int | None], set[int]] = {}
    for each in same:
        for number in each.compiles:
            compile = compiles.get(number) if each.fact.effect == _WHOLE else None
            rest = None if compile is None or compile.resumes_at is None else positions.line(compile.resumes_at)
            found.setdefault((each.fact.effect, rest), set()).add(number)
    told = {
        effect(known, all(_is_empty(compiles.get(each)) for each in numbers), resumes_at=rest): numbers
        for (known, rest), numbers in found.items()
    }
    if len(told) == 1:
        return next(iter(told))
    return "; ".join(f"in {counted(len(numbers), 'compile')} {text}" for text, numbers in told.items())


def _is_empty(compile: model.Compile | None) -> bool:
    """Whether a compile has no graph."""
    return compile is not None and compile.status == "empty"


def _origins(each: Distinct[model.GraphBreak], symbols: Symbols) -> Iterator[Note]:
    """Yield the lines that made the data-dependent symbols which a break names."""
    message = each.fact.reason.partition("\n\n")[0] if _EXPRESSION in each.fact.reason else ""
    for name in dict.fromkeys(_DATA_DEPENDENT.findall(message)):
        symbol = symbols(each.compiles[0], name)
        if symbol is not None and symbol.path:
            yield Note(kind="symbol", text=f"{name} is from", place=Place(symbol.path, symbol.line, symbol.source))


def _led_to(same: Breaks) -> list[Note]:
    """Return the breaks that Dynamo met while it handled these."""
    return [
        Note(
            kind="led to",
            text="led to",
            subject=" ".join(filter(None, [message.registry_id, message.type])),
            compiles=[n for place in places for n in same[place].compiles] if len(places) < len(same) else [],
            details=[message.explanation] if message.explanation else [],
            remedies=break_remedies(message),
        )
        for message, places in consequences(each.fact.reason for each in same)
    ]


def title_below(problem: Problem) -> str:
    """Return the title at a line that calls what breaks."""
    at = f"{problem.function} ({where(problem.place.path, problem.place.line)})"
    return fitting(
        f"Graph break in {at}: {problem.about}", f"Graph break in {problem.function}: {problem.about}", problem.title
    )


def _more_chains(same: Breaks) -> list[Note]:
    chains = {tuple(frame for frame in each.fact.stack if not is_torch(frame)) for each in same}
    number = len(chains) - 1
    reach = "1 more chain of callers reaches" if number == 1 else f"{number} more chains of callers reach"
    return [Note(kind="more chains", text=f"and {reach} this line")] if number else []
