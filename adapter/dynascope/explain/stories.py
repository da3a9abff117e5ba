"""Tell of a recompile what its guards do not: the call it was for, what else differs in it, what runs at the limit."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence

from dynascope.facts import model
from dynascope.facts.reader import Reader
from dynascope.facts.recompiles.causes import Cause
from dynascope.facts.recompiles.guarded_value import guarded_value
from dynascope.facts.recompiles.recompile_reason import MADE_SINCE

_CALLED = "It was called at {place} in {function}."
_LIMIT = {
    False: "Since this call{when} calls that none of these compiles fits run uncompiled, until torch._dynamo.reset().",
    True: "This call{when} raised an error instead, as does each that none of these compiles fits.",
}


class Stories:
    """The stories of recompiles, in the store of `reader`."""

    def __init__(
        self,
        reader: Reader,
        compiles: Iterable[model.Compile],
        runs: Iterable[model.Run],
        shown_path: Callable[[str], str],
    ) -> None:
        """Take all compiles of the runs, and how paths are shown."""
        self._reader = reader
        self._compiles = {each.id: each for each in compiles}
        self._began = {run.id: run.began for run in runs}
        self._shown_path = shown_path

    def of(self, cause: Cause, number: int) -> list[str]:
        """Return the sentences on a compile, or a refused call, that this cause had."""
        compile = self._compiles.get(number)
        entries = [each for each in cause.entries if each.compile == number]
        if compile is None or not entries:
            return []
        call, told = self._reader.call(number), []
        if call is not None and call.path:
            told.append(_CALLED.format(place=f"{self._shown_path(call.path)}:{call.line}", function=call.function))
        replaced = entries[0].failed_compile_id
        then = self._call_of(compile, replaced)
        if call is not None and then is not None and (differing := arguments_since(then, call, entries)):
            told.append(f"Arguments since {replaced}: {'; '.join(differing)}.")
        if call is not None and call.fits:
            told.append(f"It fits {', '.join(call.fits)} now: {MADE_SINCE}.")
        if entries[0].limit_reached:
            began = self._began.get(compile.run)
            when = f", {compile.began - began:.1f} s after the program began," if began is not None else ""
            told.append(_LIMIT[compile.status == "failed"].format(when=when))
        return told

    def _call_of(self, later: model.Compile, compile_id: str) -> model.CompiledCall | None:
        """Return the call of an earlier compile of the same process, the newest with this id."""
        numbers = [
            each.id
            for each in self._compiles.values()
            if each.run == later.run and each.compile_id == compile_id and each.id < later.id
        ]
        return self._reader.call(max(numbers)) if numbers else None


def stories_by_compile(stories: Stories, causes: Iterable[Cause], most: int) -> dict[int, list[str]]:
    """Return the stories of the first compiles and refused calls that the causes had."""
    found = [(cause, number) for cause in causes for number in cause.compiles][:most]
    found += [(cause, number) for cause in causes for number in sorted(cause.caused - {*cause.compiles})[:1]]
    return {number: told for cause, number in found if (told := stories.of(cause, number))}


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
