"""Read from a tape the trail that the store keeps: the lines, and what each decided."""

from __future__ import annotations

from dynascope.agent.tape.tape import NO_TEXT, Tape
from dynascope.facts.comparison.trail import DECISION_KINDS, Trail

_VALUE, _SYMBOL, _OPERATION = map(DECISION_KINDS.index, ("value", "symbol", "operation"))


def trail_of(tape: Tape, symbols: dict[str, str], is_repeated: bool) -> Trail:
    """Return the trail of an attempt; `symbols` are the sources of its symbols."""
    lines: list[int] = []
    after: list[int] = []
    own: list[int] = []
    latest = -1
    begun: dict[int, int] = {}
    numbers: dict[int, int] = {}
    for began, _, line, call in tape.segments:
        if begun.get(call) != began:
            begun[call] = began
            latest += 1
            numbers[call] = latest
            lines += call, line
        after.append(latest)
        own.append(numbers[call])
    decided = [(each, each, _SYMBOL, symbol, text) for each, symbol, text, is_new in tape.symbols if not is_new]
    decided += [(each, each, _OPERATION, name, text) for each, _, name, text in tape.nodes if text != NO_TEXT]
    decided += [(when, segment, _VALUE, name, text) for when, segment, name, text in tape.decided]
    used = dict.fromkeys([number for row in decided for number in row[3:]])
    texts = {tape.texts.all[number]: place for place, number in enumerate(used)}
    places = dict(zip(used, range(len(used)), strict=True))
    decisions = [
        each
        for when, segment, kind, subject, text in decided
        for each in (after[when], own[segment], kind, places[subject], places[text])
    ]
    calls = [
        (texts.setdefault(code.path, len(texts)), texts.setdefault(code.function, len(texts)), caller)
        for code, caller in tape.calls
    ]
    guards = [each for segment, count in tape.guard_counts for each in (after[segment], own[segment], count)]
    return Trail(list(texts), calls, lines, decisions, guards, symbols, is_repeated)
