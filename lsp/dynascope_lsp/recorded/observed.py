"""Make findings of what Dynamo did in the newest launch; equal facts become one finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os.path import basename
from typing import Generic, TypeVar

from dynascope.explain import effects
from dynascope.facts import model
from dynascope.facts.break_message import consequences, logged_stack, user_code_of, without_numbers
from dynascope.facts.comparison.recorded import Compared
from dynascope.facts.comparison.sentences import first_difference, sentence
from dynascope.facts.distinct import Distinct
from dynascope.facts.recompiles.causes import Cause, causes, entries_by_compile, mismatch
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.facts.recompiles.varying import advice as varying_advice
from dynascope.facts.recompiles.varying import sentence as varying_sentence
from msgspec import Struct, structs

from dynascope_lsp.documents.text import Text
from dynascope_lsp.recorded.file_facts import FileFacts
from dynascope_lsp.recorded.findings import Finding, Related
from dynascope_lsp.recorded.placement import Placement

Locate = Callable[[str, int], int | None]
"""Returns the present line for a path and a recorded line; None when the line is gone."""

COMPILES_SHOWN = 10
F = TypeVar("F", bound=model.Fact)


class Observations:
    """Make the findings of one file from its facts."""

    def __init__(
        self, facts: FileFacts, placement: Placement, text: Text, locate: Locate, ours: Callable[[str], bool]
    ) -> None:
        """Store the arguments; `ours` says whether a path is the user's rather than a library's."""
        self._facts = facts
        self._placement = placement
        self._text = text
        self._locate = locate
        self._ours = ours

    def findings(self) -> list[Finding]:
        """Return all findings by line."""
        found = [
            *self._graph_breaks(),
            *self._graph_breaks_below(),
            *self._recompiles(),
            *self._varying_guards(),
            *self._specializations(),
            *self._backend_failures(),
            *self._failed_compiles(),
            *self._skipped_frames(),
        ]
        return sorted(found, key=lambda each: each.line)

    def _graph_breaks(self) -> Iterable[Finding]:
        groups = _grouped(
            self._facts.graph_breaks,
            lambda each: (self._placement.now(each), each.type, without_numbers(each.explanation)),
        )
        for (line, *_), same in groups.items():
            if line is not None:
                first = same.facts[0]
                yield self._graph_break(line, same, f"Graph break: {first.type}", first.stack[:-1])

    def _graph_breaks_below(self) -> Iterable[Finding]:
        """Yield the breaks in libraries, at the user's line that led there. Breaks in the user's
        own files have their own diagnostics."""
        placed: dict[tuple[int, str, str, int], Same[model.GraphBreak]] = {}
        for each in self._facts.graph_breaks_below:
            if self._ours(each.path):
                continue
            frame = next((f for f in reversed(each.stack) if self._ours(f.path)), None)
            if frame is None or frame.path != self._facts.path:
                continue  # another of the user's files is nearer
            line = self._placement.line(frame.line)
            if line is not None:
                same = placed.setdefault((line, each.type, each.path, each.line), Same([], []))
                same.facts.append(each)
                same.compiles.append(each.compile)
        for (line, kind, path, broken_line), same in placed.items():
            first = same.facts[0]
            title = f"Graph break in {first.function} ({basename(path)}:{broken_line}): {kind}"
            yield self._graph_break(line, same, title, first.stack)

    def _graph_break(
        self, line: int, same: Same[model.GraphBreak], title: str, stack: list[model.StackFrame]
    ) -> Finding:
        first = same.facts[0]
        chains = len({tuple(each.stack) for each in same.facts})
        related = [
            Related(frame.path, now, f"{'called from' if frame is not first.stack[-1] else 'in'} {frame.function}")
            for frame in reversed(stack)
            if not _is_torch(frame.path) and (now := self._locate(frame.path, frame.line)) is not None
        ]
        if chains > 1:
            related.append(Related(first.path, line, f"and {_more_chains(chains - 1)} this line"))
        return Finding(
            kind="graphBreak",
            line=line,
            title=title,
            explanation="\n".join(
                [
                    first.explanation or first.reason,
                    *_led_to(same.facts),
                    *([effects.sentence(first.effect)] if first.effect != "resumed" else []),
                ]
            ),
            hints=first.hints,
            registry_id=first.registry_id,
            type=first.type,
            compiles=self._ids(same.compiles),
            programs=self._facts.programs_of(same.compiles),
            related=related,
            stale=self._stale(line),
        )

    def _recompiles(self) -> Iterable[Finding]:
        """Yield one finding for each cause, however many compiles and guards failed for it."""
        entries = [
            structs.replace(each, line=line)
            for each in self._facts.failed_guards
            if (line := self._placement.now(each)) is not None
        ]
        rests = {number: self._rest_of(number) for number in {each.compile for each in entries}}
        for cause in causes(entries, self._facts.compiles, self._facts.compile, rests):
            first, rest = cause.first, cause.resumes_at
            what = first.function if rest is None else f"what follows line {rest} of {first.function}"
            compared = self._facts.comparison(cause.compiles[0]) if cause.compiles else None
            limit = f"Recompile limit reached: {what} runs uncompiled from here on"
            title = f"Failed too when recompiled: {what}" if cause.is_aside else f"Recompiled: {what}"
            yield Finding(
                kind="recompileLimit" if cause.limit_reached else "recompile",
                line=self._name_line(first.line),
                title=limit if cause.limit_reached else title,
                explanation=self._failed_guards(cause, compared),
                hints=[*cause.hints, *(_RECOMPILE_LIMIT_HINTS if cause.limit_reached else ())],
                compiles=self._ids(cause.others if cause.is_aside else cause.compiles),
                programs=self._facts.programs_of([*cause.compiles, *cause.others]),
                related=[
                    *self._first_difference(compared),
                    *(
                        Related(each.guard_path, now, f"the guard comes from here: {readable(each.guard)}")
                        for each in _distinct(cause.entries, lambda each: (each.guard_path, each.guard_line))
                        if each.guard_path
                        and each.guard_line
                        and (now := self._locate(each.guard_path, each.guard_line))
                    ),
                ],
                stale=self._stale(first.line),
                guard=next((each.guard for each in cause.entries if "size mismatch" in each.guard), first.guard),
                function_line=first.line,
            )

    def _first_difference(self, compared: Compared | None) -> Iterable[Related]:
        """Yield the line of the first difference, and where each compile goes on."""
        comparison = compared.comparison if compared is not None else None
        if comparison is None or comparison.first is None:
            return
        first = comparison.first
        text = f"first difference: {sentence(comparison, first)}"
        for place, what in (
            (first.place, text),
            (first.left_next, f"{comparison.left.name} goes on here"),
            (first.right_next, f"{comparison.right.name} goes on here"),
        ):
            now = self._locate(place.path, place.line) if place is not None else None
            if place is not None and now is not None:
                yield Related(place.path, self._name_line(now) if place.path == self._facts.path else now, what)

    def _failed_guards(self, cause: Cause, compared: Compared | None) -> str:
        """Describe a cause: what changed, its values, and the failed guards of each compile."""
        values = f": met {', '.join(cause.values)}" if cause.values else ""
        rows = entries_by_compile(cause)
        lines = [
            f"{self._facts.compile_id(number)}{' was refused, and' if entries[0].limit_reached else ''} "
            f"{mismatch(entries, number in cause.caused)}"
            for number, entries in rows[:COMPILES_SHOWN]
        ]
        told = [*cause.compiles[:1], *[number for number, entries in rows if entries[0].limit_reached][:1]]
        stories = {number: " ".join(self._facts.story(cause, number)) for number in told}
        story = [f"{self._facts.compile_id(number)}: {text}" for number, text in stories.items() if text]
        more = [f"… and {len(rows) - COMPILES_SHOWN} more"] if len(rows) > COMPILES_SHOWN else []
        differs = [first_difference(compared.comparison)] if compared is not None else []
        return "\n".join([f"Because of {cause.about}{values}", *lines, *more, *story, *differs])

    def _varying_guards(self) -> Iterable[Finding]:
        """Yield one finding for each guarded value that will change, at the line that needs it."""
        groups: dict[tuple[int | None, str, str], list[model.VaryingGuard]] = {}
        for each in self._facts.varying_guards:
            groups.setdefault((self._placement.now(each), each.kind, each.expression), []).append(each)
        for (line, *_), same in groups.items():
            if line is not None:
                yield Finding(
                    kind="recompile",
                    line=line,
                    title=f"{same[0].function} will be compiled again",
                    explanation="\n".join(dict.fromkeys(map(varying_sentence, same))),
                    hints=[varying_advice(same[0])],
                    compiles=self._ids(each.compile for each in same),
                    programs=self._facts.programs_of([each.compile for each in same]),
                    stale=self._stale(line),
                )

    def _specializations(self) -> Iterable[Finding]:
        groups = _grouped(
            self._facts.specializations, lambda each: (self._placement.now(each), each.value, tuple(each.origins))
        )
        for (line, _, _), same in groups.items():
            if line is None:
                continue
            first = same.facts[0]
            origin = f" ({', '.join(first.origins)})" if first.origins else ""
            yield Finding(
                kind="specialization",
                line=line,
                title=f"Specialised: {first.symbol}{origin} is fixed to {first.value}",
                explanation=first.reason,
                compiles=self._ids(same.compiles),
                programs=self._facts.programs_of(same.compiles),
                related=[
                    Related(frame.path, now, f"called from {frame.function}")
                    for frame in reversed(first.stack[:-1])
                    if not _is_torch(frame.path) and (now := self._locate(frame.path, frame.line)) is not None
                ],
                stale=self._stale(line),
            )

    def _backend_failures(self) -> Iterable[Finding]:
        groups = _grouped(
            self._facts.backend_failures, lambda each: (self._placement.now(each), each.exception, each.message)
        )
        for (line, *_), same in groups.items():
            if line is not None:
                yield Finding(
                    kind="backendFailure",
                    line=line,
                    title=f"The backend {same.facts[0].backend} failed on the graph that ends here",
                    explanation=f"{same.facts[0].exception}: {same.facts[0].message}",
                    compiles=self._ids(same.compiles),
                    programs=self._facts.programs_of(same.compiles),
                    stale=self._stale(line),
                )

    def _failed_compiles(self) -> Iterable[Finding]:
        """Yield a finding for compiles that failed for another reason than the backend's."""
        told = {number for each in self._facts.backend_failures for number in each.compiles}
        failed = [each for each in self._facts.own_compiles if each.status == "failed" and each.id not in told]
        groups = _grouped_compiles(failed, lambda each: (self._placement.now(each), each.failure))
        for (line, failure), same in groups.items():
            if line is not None and "BackendCompilerFailed" not in (failure or ""):
                yield Finding(
                    kind="backendFailure",
                    line=self._name_line(line),
                    title=f"Could not compile {same[0].function}",
                    explanation=failure or "",
                    related=[
                        Related(frame.path, now, f"it failed in {frame.function}")
                        for frame in reversed(logged_stack(user_code_of(failure or "")))
                        if not _is_torch(frame.path) and (now := self._locate(frame.path, frame.line)) is not None
                    ],
                    compiles=self._ids(each.id for each in same),
                    programs=self._facts.programs_of([each.id for each in same]),
                    stale=self._stale(line),
                )

    def _skipped_frames(self) -> Iterable[Finding]:
        """Yield skipped frames, unless a graph break explains them or they had nothing to compile."""
        broken = {number for each in self._facts.graph_breaks for number in each.compiles}
        broken |= {each.compile for each in self._facts.graph_breaks_below}
        skipped = [
            each
            for each in self._facts.own_compiles
            if each.status == "skipped"
            and each.id not in broken
            and _NOTHING_TO_COMPILE not in (each.skip_reason or "")
        ]
        groups = _grouped_compiles(skipped, lambda each: (self._placement.now(each), each.resumes_at, each.skip_reason))
        for (line, resumes_at, reason), same in groups.items():
            if line is None:
                continue
            rest = self._placement.line(resumes_at) if isinstance(resumes_at, int) else None
            what = same[0].function if rest is None else f"what follows line {rest} of {same[0].function}"
            yield Finding(
                kind="skippedFrame",
                line=self._name_line(line),
                title=f"Not compiled: {what} runs as plain Python",
                explanation=str(reason or ""),
                programs=self._facts.programs_of([each.id for each in same]),
                stale=self._stale(line),
            )

    def _rest_of(self, number: int) -> int | None:
        """Return the present line after which a resume function starts; None for a whole function."""
        compile = self._facts.compiles.get(number)
        return None if compile is None or compile.resumes_at is None else self._placement.line(compile.resumes_at)

    def _ids(self, numbers: Iterable[int]) -> list[str]:
        """Return the ids of distinct compiles; equal compiles of several ranks are all kept."""
        return [self._facts.compile_id(number) for number in dict.fromkeys(numbers)]

    def _name_line(self, line: int) -> int:
        """Return the line of `def` for a function whose code begins at a decorator."""
        function = self._text.index.function_starting(line) if self._text.index else None
        return function.name_line if function else line

    def _stale(self, line: int) -> str | None:
        if self._placement.identical:
            return None
        function = self._text.index.function_at(line) if self._text.index else None
        if function is None or not self._placement.changed(function.first_line, function.last_line):
            return None
        return f"{function.node.name} has been edited since"


def _is_torch(path: str) -> bool:
    """Whether a frame is torch's, such as `_call_impl` of nn.Module: the user need not see it."""
    return "/site-packages/torch/" in path or "/dist-packages/torch/" in path


def _more_chains(number: int) -> str:
    return "1 more chain of callers reaches" if number == 1 else f"{number} more chains of callers reach"


def _led_to(facts: list[model.GraphBreak]) -> Iterable[str]:
    """Yield a text for each break that Dynamo met while it handled these."""
    for each, places in consequences(fact.reason for fact in facts):
        name = f"{each.type} ({each.registry_id})" if each.registry_id else each.type
        led = "It led" if len(places) == len(facts) else "In some of these compiles it led"
        yield "\n".join([f"{led} to another break, {name}: {each.explanation}", *(f"Hint: {h}" for h in each.hints)])


K = TypeVar("K")
T = TypeVar("T")


class Same(Struct, Generic[F]):
    """Facts that become one finding, and the numbers of the compiles that have them."""

    facts: list[F]
    compiles: list[int]


def _grouped(facts: Iterable[Distinct[F]], key: Callable[[F], K]) -> dict[K, Same[F]]:
    groups: dict[K, Same[F]] = {}
    for each in facts:
        same = groups.setdefault(key(each.fact), Same([], []))
        same.facts.append(each.fact)
        same.compiles += each.compiles
    return groups


def _grouped_compiles(
    compiles: Iterable[model.Compile], key: Callable[[model.Compile], K]
) -> dict[K, list[model.Compile]]:
    groups: dict[K, list[model.Compile]] = {}
    for each in compiles:
        groups.setdefault(key(each), []).append(each)
    return groups


def _distinct(facts: Iterable[T], key: Callable[[T], object]) -> list[T]:
    return list({key(each): each for each in facts}.values())


_NOTHING_TO_COMPILE = "No ops traced"
"""Part of Dynamo's skip reason: the function, or its rest, has no operations on tensors."""
_RECOMPILE_LIMIT_HINTS = [
    "If so many variants are meant, raise `torch._dynamo.config.recompile_limit`.",
]
