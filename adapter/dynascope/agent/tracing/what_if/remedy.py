"""Try remedies against a recompile: trace the frame with each, and tell whether the guard that failed is gone."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import PurePath
from typing import Any

from dynascope.agent.internals.compile import changes
from dynascope.agent.internals.compile.trial import Outcome
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_tensor
from dynascope.agent.internals.symbolic_shapes.shapes import SymbolFact, can_be
from dynascope.facts.recompiles.guarded_value import GuardedValue, readable
from dynascope.facts.recompiles.remedies import is_buffer, is_first_state

InForce = Callable[[], AbstractContextManager[None]]
Remedy = tuple[str, InForce]
"""The code that a user would write, and a context that has the same effect on a trace."""

_SETTING = re.compile(r"(torch\.[\w.]*config)\.(\w+) ?= ?(True|False)")
_DYNAMIC = "`dynamic=True`", {"assume_static_by_default": False}
_AS_FIRST_CALL = {"automatic_dynamic_shapes": False}
_ALWAYS_FIXED = "0 and 1 are always fixed."
_WHY_NOT = {
    "size": "the size is dynamic already, and it is the code that needs this.",
    "value": "Dynamo makes only ints and floats dynamic.",
    "global state": "the calls would have to be made in the same state.",
}
_OTHER_NUMBER = "the callers would have to pass numbers of one type."
_BUFFERS = (  # the second is for modules of torch's own classes
    "torch._dynamo.config.force_parameter_static_shapes = False"
    " torch._dynamo.config.force_nn_module_property_static_shapes = False"
)
_STEP = "the optimizer would have to take a step."
_CALLER = "what the callers pass would have to change."


def remedies_to_try(subject: GuardedValue, guard: str, value: object, then: int | None) -> list[Remedy] | str:
    """Return the remedies that can be tried against a guard, or why there is none.

    `guard` has Dynamo's remarks; `value`: of the guarded expression now; `then`: the number that the guard wants.
    """
    if subject.kind == "size" and is_buffer(subject):
        parameters, properties = (_by_setting(found, subject) for found in _SETTING.finditer(_BUFFERS))
        both = f"{parameters[0].partition(' and ')[0]}, {properties[0]}"
        return [parameters, (both, _with({}, parameters[1], properties[1]))]
    setting = _SETTING.search(guard)
    if setting is not None:
        return [_by_setting(setting, subject)]
    number: Any = value
    if subject.kind == "size" and is_tensor(value) and "mismatch" in guard:
        number = value.shape[subject.dimension or 0]  # type: ignore[attr-defined]
    is_number = type(number) is int or (type(number) is float and subject.kind == "value")
    if subject.kind not in ("size", "value") or not is_number:
        return _STEP if is_first_state(subject, guard) else _WHY_NOT.get(subject.kind, _CALLER)
    if subject.kind == "value" and " == " in guard and (type(number) is int) != (then is not None):
        return _OTHER_NUMBER
    if type(number) is int and {number, then} & {0, 1} and subject.kind != "size":
        return f"the numbers {_ALWAYS_FIXED}"
    found: list[Remedy] = []
    if {number, then} & {0, 1} and subject.kind == "size":
        dimension = subject.dimension or 0
        unback = functools.partial(changes.marked_unbacked, value, dimension)  # type: ignore[arg-type]
        place = f"{readable(subject.expression)}, {dimension}"
        return [(f"`torch._dynamo.decorators.mark_unbacked({place})`", _with(_AS_FIRST_CALL, unback))]
    if subject.kind == "size":
        mark = functools.partial(changes.marked_dynamic, value, [subject.dimension or 0])  # type: ignore[arg-type]
        place = f"{readable(subject.expression)}, {subject.dimension}"
        found.append((f"`torch._dynamo.mark_dynamic({place})`", _with(_AS_FIRST_CALL, mark)))
    elif type(number) is int:
        source = guard.partition(" == ")[0]
        make = functools.partial(changes.number_dynamic, source)
        found.append((f'`torch.compiler.config.dynamic_sources = "{source}"`', _with(_AS_FIRST_CALL, make)))
    return [*found, (_DYNAMIC[0], _with(_DYNAMIC[1]))]


def _by_setting(setting: re.Match[str], subject: GuardedValue) -> Remedy:
    module, name, wanted = setting.groups()
    change = functools.partial(changes.setting_changed, name, wanted == "True", module)
    if subject.kind == "sizes":
        return f"`{setting[0]}`", change
    return f"`{setting[0]}` and {_DYNAMIC[0]}", _with(_DYNAMIC[1], change)


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


def verdict(outcome: Outcome, subject: GuardedValue, then: int | None) -> tuple[bool, str]:
    """Return whether the guard is gone in an outcome, and that as a clause."""
    if outcome.error is not None:
        return False, f"Dynamo gives the frame up, {outcome.error}"
    name = subject.text
    symbol = _symbol(outcome, name)
    if subject.kind == "sizes":
        return _relation(outcome, subject)
    if symbol is None:
        return _without_symbol(outcome, subject)
    conditions = [guard for guard in outcome.shape_guards if symbol.symbol in guard.guard.expr.free_symbols]
    false = [guard for guard in conditions if then is not None and not can_be(guard.guard.expr, symbol.symbol, then)]
    places = [(guard.user_place, guard.expression) for guard in false or conditions]
    place, condition = next((each for each in places if each[0] is not None), (None, None))
    needs = "" if condition is None else f", because {_where(place)} needs {condition.replace(symbol.name, name)}"
    if symbol.replacement is not None:
        return False, f"the guard is still there{needs}"
    if false:
        return False, f"{name} is dynamic, but not all its values fit{needs}"
    text = f"{name} is dynamic in [{symbol.low}, {symbol.high}]"
    if then is not None and symbol.low.lstrip("-").isdecimal() and then < int(symbol.low):
        return False, f"{text}, and {then} is compiled by itself"
    if symbol.hint is not None:
        return True, f"{text}, and the guard is gone"
    if outcome.graph_break is not None:
        place = outcome.graph_break.path, outcome.graph_break.line
        return False, f"{text}, but the graph breaks at {_where(place)}"
    checked = [check.removeprefix("runtime assert ").replace(symbol.name, name) for check in symbol.constraints]
    raises = f", but a call raises unless {' and '.join(checked)}" if checked else ""
    return True, f"{text}, and the guard is gone{raises}"


def _symbol(outcome: Outcome, name: str) -> SymbolFact | None:
    return next((each for each in outcome.symbols if any(_is(source, name) for source in each.sources)), None)


def _is(source: str, name: str) -> bool:
    return readable(source).removeprefix("___as_tensor(").removesuffix(".item()").removesuffix(")") == name


def _relation(outcome: Outcome, subject: GuardedValue) -> tuple[bool, str]:
    """Tell whether sizes of several tensors are still compared with one another."""
    names = [f"{readable(name)}.size()" for name in subject.expression.split(", ")]
    known = {
        each.symbol: sum(any(readable(source).startswith(name) for source in each.sources) for name in names)
        for each in outcome.symbols
    }
    shared = next((symbol for symbol, number in known.items() if number > 1), None)
    if shared is not None:
        return False, f"the guard is still there: {shared} stands for several of the sizes"
    own = {symbol for symbol, number in known.items() if number}
    compared = next((each for each in outcome.shape_guards if len(own & each.guard.expr.free_symbols) > 1), None)
    if compared is None:
        return True, "each size has a symbol of its own, and the guard is gone"
    who = f"{_where(compared.user_place)} needs" if compared.user_place else "there is the guard"
    return False, f"each size has a symbol of its own, but {who} {compared.expression}"


def _without_symbol(outcome: Outcome, subject: GuardedValue) -> tuple[bool, str]:
    """Tell whether a value without a symbol is fixed, or not guarded at all."""
    name = readable(subject.expression)
    on_it = [guard for guard in outcome.guards if readable(guard.source) == name and guard.kind != "TYPE_MATCH"]
    if not on_it:
        return True, f"no guard is on {name}"
    place = next(((guard.file, guard.line) for guard in on_it if guard.file and guard.line), None)
    needs = "" if place is None else f", because {_where(place)} uses {name}"
    return False, f"the guard is still there{needs}"


def _where(place: Sequence[Any] | None) -> str:
    return "" if place is None else f"{PurePath(place[0]).name}:{place[1]}"
