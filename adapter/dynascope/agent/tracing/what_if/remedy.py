"""Try remedies against a recompile: trace the frame with each, and tell whether the guard that failed is gone."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from dynascope.agent.internals.guards.tree import Changed
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor
from dynascope.agent.internals.symbolic_shapes.shapes import SymbolFact, can_be
from dynascope.agent.speculation import changes
from dynascope.agent.speculation.trial import TrialOutcome
from dynascope.explain import why as says
from dynascope.explain.problem import where
from dynascope.explain.what_if import end
from dynascope.facts.recompiles.guarded_value import GuardedValue, is_bound, is_buffer, is_first_state, met, readable
from dynascope.facts.recompiles.recompile_reason import is_of_zero_and_one, is_range_of_mark

InForce = Callable[[], AbstractContextManager[None]]
Remedy = tuple[str, InForce]
"""The code that a user would write, and a context that has the same effect on a trace."""
Tied = tuple[Changed, Any]
"""Something that has changed, and its value now; for a size, the tensor."""
_NAMED = 4
"""The maximum number of values that are named."""

_SYMBOL = re.compile(r"\b[suz]\w*\d\b")
_SETTING = re.compile(r"(torch\.[\w.]*config)\.(\w+) ?= ?(True|False)")
DYNAMIC = "`dynamic=True`"
_IS_DYNAMIC = {"assume_static_by_default": False}
_AS_FIRST_CALL = {"automatic_dynamic_shapes": False}
_BUFFERS = (  # the second is for modules of torch's own classes
    "torch._dynamo.config.force_parameter_static_shapes = False"
    " torch._dynamo.config.force_nn_module_property_static_shapes = False"
)


def remedies_to_try(
    subject: GuardedValue, guard: str, value: object, then: int | float | None, tied: Sequence[Tied] = ()
) -> list[Remedy] | str:
    """Return the remedies that can be tried against a guard, or why there is none.

    `guard` has Dynamo's remarks; `value`: of the guarded expression now; `then`: the number that the guard wants;
    `tied`: what has changed, too, and must be dynamic with it.
    """
    if subject.kind == "size" and is_buffer(subject):
        parameters, properties = (_by_setting(found, subject) for found in _SETTING.finditer(_BUFFERS))
        both = f"{parameters[0].partition(' and ')[0]}, {properties[0]}"
        return [parameters, (both, _with({}, parameters[1], properties[1]))]
    if is_range_of_mark(guard):
        return says.MARKS
    setting = _SETTING.search(guard)
    if setting is not None:
        return [_by_setting(setting, subject)]
    number: Any = value
    if subject.kind == "size" and ("mismatch" in guard or is_of_zero_and_one(guard)):
        if not is_tensor(value):  # an array of NumPy, which cannot be marked
            return says.SIZES_FIXED if {met(guard), str(then)} & {"0", "1"} else [_DYNAMIC_REMEDY]
        number = value.shape[subject.dimension or 0]  # type: ignore[attr-defined]
    is_number = type(number) is int or (type(number) is float and subject.kind == "value")
    if subject.kind not in ("size", "value") or not is_number:
        return says.STEP if is_first_state(subject, guard) else says.WHY_NOT.get(subject.kind, says.CALLER)
    if subject.kind == "size":
        return _of_size(subject, value, bool({number, then} & {0, 1}), tied)
    return _of_number(guard, number, then, tied)


def _of_size(subject: GuardedValue, tensor: Any, is_fixed: bool, tied: Sequence[Tied]) -> list[Remedy]:
    dimension, place = subject.dimension or 0, _place(subject)
    if is_fixed:
        unback = partial(changes.marked_unbacked, tensor, dimension)
        return [(f"`torch._dynamo.decorators.mark_unbacked({place})`", _with(_AS_FIRST_CALL, unback))]
    mark = partial(changes.marked_dynamic, tensor, [dimension])
    marked = f"`torch._dynamo.mark_dynamic({place})`"
    if changes.is_marked_static(tensor, dimension):
        unmark = partial(changes.unmarked_static, tensor, dimension)
        return [(f"{marked} in place of `torch._dynamo.mark_static`", _with(_AS_FIRST_CALL, unmark, mark))]
    return [_together([(marked, mark)], [], tied), _DYNAMIC_REMEDY]


def _together(first: Sequence[tuple[str, InForce]], numbers: Sequence[str], tied: Sequence[Tied]) -> Remedy:
    """Return what makes a size or a number dynamic, with all that is tied to it.

    `first`: the mark of the size, or none; `numbers`: the source of the number, or none.
    """
    sizes = [(each.subject, tensor) for each, tensor in tied if each.subject.kind == "size"]
    numbers = [*numbers, *(each.source for each, _ in tied if each.subject.kind == "value")]
    texts = [*(text for text, _ in first), *(f"`torch._dynamo.mark_dynamic({_place(each)})`" for each, _ in sizes)]
    if len(texts) > _NAMED:
        texts = [*texts[:_NAMED], f"the same for {len(texts) - _NAMED} more"]
    if numbers:
        texts.append(f'`torch.compiler.config.dynamic_sources = "{",".join(numbers)}"`')
    marks = [partial(changes.marked_dynamic, tensor, [each.dimension or 0]) for each, tensor in sizes]
    sources = [partial(changes.number_dynamic, each) for each in numbers]
    return " and ".join(texts), _with(_AS_FIRST_CALL, *(mark for _, mark in first), *marks, *sources)


def _place(subject: GuardedValue) -> str:
    return f"{readable(subject.expression)}, {subject.dimension or 0}"


def _of_number(guard: str, number: float, then: float | None, tied: Sequence[Tied]) -> list[Remedy] | str:
    is_int = type(number) is int
    if is_bound(guard.partition("  # ")[0]):
        return says.BOUND
    if " == " in guard and type(number) is not type(then):
        return says.OTHER_NUMBER
    if not is_int:
        return [_DYNAMIC_REMEDY]
    return [_together([], [guard.partition(" == ")[0]], tied), _DYNAMIC_REMEDY]


def _by_setting(setting: re.Match[str], subject: GuardedValue) -> Remedy:
    module, name, wanted = setting.groups()
    change = partial(changes.setting_changed, name, wanted == "True", module)
    if subject.kind == "sizes":
        return f"`{setting[0]}`", change
    return f"`{setting[0]}` and {DYNAMIC}", _with(_IS_DYNAMIC, change)


def _with(settings: dict[str, bool], *others: InForce) -> InForce:
    """Return what puts settings of Dynamo and other changes in force together."""

    @contextlib.contextmanager
    def in_force() -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            for name, value in settings.items():
                stack.enter_context(changes.setting_changed(name, value))
            for other in others:
                stack.enter_context(other())
            yield

    return in_force


_DYNAMIC_REMEDY = DYNAMIC, _with(_IS_DYNAMIC)


def verdict(outcome: TrialOutcome, subject: GuardedValue, then: int | float | None) -> tuple[bool, str]:
    """Return whether the guard is gone in an outcome, and that as a clause."""
    if outcome.error is not None:
        return False, end(outcome)
    name = subject.text
    symbol = _symbol(outcome, name)
    if subject.kind == "sizes":
        return _relation(outcome, subject)
    if symbol is None:
        return _without_symbol(outcome, subject)
    if (computed := _computed(outcome, symbol, name)) is not None:
        return computed
    same, equal = "", next((each for each in outcome.symbols if each.name == symbol.replacement and each.sources), None)
    if equal is not None:  # of two sizes that must be equal, torch takes one symbol for the other
        same, symbol = f", the same as {readable(equal.sources[0])}", equal
    conditions = [guard for guard in outcome.shape_guards if symbol.symbol in guard.guard.expr.free_symbols]
    false = [guard for guard in conditions if then is not None and not can_be(guard.guard.expr, symbol.symbol, then)]
    needs = _needs(false or conditions, symbol, name)
    if symbol.replacement is not None:
        return False, says.STILL_THERE.format(needs=needs)
    if false:
        return False, says.NOT_ALL_FIT.format(name=name, needs=needs)
    text = says.DYNAMIC_IN.format(name=name, low=symbol.low, high=symbol.high, same=same)
    if then is not None and symbol.low.lstrip("-").isdecimal() and then < int(symbol.low):
        return False, says.COMPILED_ALONE.format(text=text, then=then)
    return _without_guard(outcome, symbol, name, text)


def _without_guard(outcome: TrialOutcome, symbol: SymbolFact, name: str, text: str) -> tuple[bool, str]:
    """Tell what comes of a dynamic value: without a hint, a graph break or an error."""
    if symbol.hint is not None:
        return True, says.GONE.format(text=text)
    if outcome.graph_break is not None:
        return False, says.BREAKS.format(text=text, place=where(outcome.graph_break.path, outcome.graph_break.line))
    return True, says.GONE.format(text=text) + _raises(symbol, name)


def _needs(conditions: Sequence[Any], symbol: SymbolFact, name: str) -> str:
    """Return which line needs one of the shape guards, as the end of a clause, or ""."""
    places = [(guard.user_place, guard.expression) for guard in conditions]
    place, condition = next((each for each in places if each[0] is not None), (None, None))
    return "" if condition is None else says.because(place, "needs", condition.replace(symbol.name, name))


def _raises(symbol: SymbolFact, name: str) -> str:
    """Return what a call must fulfil not to raise, as the end of a clause, or ""."""
    checked = [check.removeprefix("runtime assert ").replace(symbol.name, name) for check in symbol.constraints]
    return says.RAISES.format(checks=" and ".join(checked)) if checked else ""


def _computed(outcome: TrialOutcome, symbol: SymbolFact, name: str) -> tuple[bool, str] | None:
    """Tell by what torch computes a value, `6 - sizes[1]`, for which it needs no symbol."""
    text = symbol.replacement
    known = {each.name: readable(each.sources[0]) for each in outcome.symbols if each.sources}
    names = set(_SYMBOL.findall(text)) if text is not None else set()
    if text is None or not names or text in known or not names <= known.keys():
        return None
    computed = _SYMBOL.sub(lambda found: known[found[0]], text)
    return True, says.GONE.format(text=says.COMPUTED.format(name=name, computed=computed))


def still_fixed(outcome: TrialOutcome, subject: GuardedValue, changed: Sequence[Changed]) -> str:
    """Return which others have changed and are still fixed, as the end of a clause, or ""."""
    found = []
    for name in (each.subject.text for each in changed if each.subject != subject):
        symbol = _symbol(outcome, name)
        if symbol is None or (symbol.replacement or "").lstrip("-").isdecimal():
            found.append(name)
    if len(found) > _NAMED:
        found = [*found[:_NAMED], f"{len(found) - _NAMED} more"]
    return says.still_fixed(found)


def _symbol(outcome: TrialOutcome, name: str) -> SymbolFact | None:
    return next((each for each in outcome.symbols if any(_is(source, name) for source in each.sources)), None)


def _is(source: str, name: str) -> bool:
    return readable(source).removeprefix("___as_tensor(").removesuffix(".item()").removesuffix(")") == name


def _relation(outcome: TrialOutcome, subject: GuardedValue) -> tuple[bool, str]:
    """Tell whether sizes of several tensors are still compared with one another."""
    names = [f"{readable(name)}.size()" for name in subject.expression.split(", ")]
    known = {
        each.symbol: sum(any(readable(source).startswith(name) for source in each.sources) for name in names)
        for each in outcome.symbols
    }
    shared = next((symbol for symbol, number in known.items() if number > 1), None)
    if shared is not None:
        return False, says.SHARED.format(symbol=shared)
    own = {symbol for symbol, number in known.items() if number}
    compared = next((each for each in outcome.shape_guards if len(own & each.guard.expr.free_symbols) > 1), None)
    if compared is None:
        return True, says.GONE.format(text=says.APART)
    who = f"{where(*compared.user_place)} needs" if compared.user_place else "there is the guard"
    return False, f"{says.APART}, but {who} {compared.expression}"


def _without_symbol(outcome: TrialOutcome, subject: GuardedValue) -> tuple[bool, str]:
    """Tell whether a value without a symbol is fixed, or not guarded at all."""
    name = readable(subject.expression)
    on_it = [guard for guard in outcome.guards if readable(guard.source) == name and guard.kind != "TYPE_MATCH"]
    if not on_it:
        return True, says.NO_GUARD_ON.format(name=name)
    place = next(((guard.file, guard.line) for guard in on_it if guard.file and guard.line), None)
    return False, says.STILL_THERE.format(needs=says.because(place, "uses", name) if place else "")
