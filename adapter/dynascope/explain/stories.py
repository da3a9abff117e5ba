"""Tell of a recompile what its guards do not: the call it was for, what else differs in it, what runs at the limit."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence

from dynascope.explain.remedies import MADE_SINCE
from dynascope.facts import model
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause
from dynascope.facts.recompiles.guarded_value import guarded_value

_CALLED = "It was called at {place} in {function}."
_LIMIT = {
    False: "Since this call{when} calls that none of these compiles fits run uncompiled, until torch._dynamo.reset().",
    True: "This call{when} raised an error instead, as does each that none of these compiles fits.",
}


def story(
    reader: Reader,
    cause: Cause,
    number: int,
    compiles: Iterable[model.Compile],
    runs: Iterable[model.Run],
    shown_path: Callable[[str], str],
) -> list[str]:
    """Return the sentences on a compile, or a refused call, that a cause had.

    `compiles` are all of its run.
    """
    by_number = {each.id: each for each in compiles}
    compile = by_number.get(number)
    entries = [each for each in cause.entries if each.compile == number]
    if compile is None or not entries:
        return []
    call, told = reader.call(number), []
    if call is not None and call.path:
        told.append(_CALLED.format(place=f"{shown_path(call.path)}:{call.line}", function=call.function))
    replaced = entries[0].failed_compile_id
    same = [each.id for each in by_number.values() if (each.run, each.compile_id) == (compile.run, replaced)]
    earlier = [each for each in same if each < number]
    then = reader.call(max(earlier)) if earlier else None
    if call is not None and then is not None and (differing := arguments_since(then, call, entries)):
        told.append(f"Arguments since {replaced}: {'; '.join(differing)}.")
    if call is not None and call.fits:
        told.append(f"It fits {', '.join(call.fits)} now: {MADE_SINCE}.")
    if entries[0].limit_reached:
        began = next((run.began for run in runs if run.id == compile.run), None)
        when = f", {compile.began - began:.1f} s after the program began," if began is not None else ""
        told.append(_LIMIT[compile.status == "failed"].format(when=when))
    return told


def arguments_since(
    then: model.CompiledCall, now: model.CompiledCall, told: Sequence[model.Recompile] = ()
) -> list[str]:
    """Return `scale was 2, and is 5` for each argument that differs and that no guard tells."""
    known = {word for each in told for word in re.findall(r"\w+", guarded_value(each.guard).expression)}
    before, after = dict(then.arguments), dict(now.arguments)
    return [
        f"{name} was {before[name]}, and is {value}"
        for name, value in now.arguments
        if name in before and before[name] != value and name not in known
    ] + (keywords_since(before, after) if now.keywords and then.keywords else [])


def keywords_apart(keywords: str, *calls: dict[str, str]) -> list[dict[str, str]]:
    """Return the arguments of calls with each keyword by itself, where all can be read.

    `keywords` is the name of the parameter that takes them.
    """
    found = []
    for arguments in calls:
        text = arguments.get(keywords, "")
        try:
            parsed = ast.parse(text, mode="eval").body
        except SyntaxError:
            return [*calls]
        if not isinstance(parsed, ast.Dict):
            return [*calls]
        pairs = zip(parsed.keys, parsed.values, strict=True)
        apart = {str(key.value): ast.unparse(value) for key, value in pairs if isinstance(key, ast.Constant)}
        found.append({name: each for name, each in arguments.items() if name != keywords} | apart)
    return found


def keywords_since(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """Return `mask was passed, and is not` for each keyword that only one of two calls has."""
    then, now = dict.fromkeys(before), dict.fromkeys(after)
    gone = [f"{name} was passed, and is not" for name in then if name not in now]
    return gone + [f"{name} was not passed, and is" for name in now if name not in then]
