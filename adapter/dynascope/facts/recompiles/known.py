"""Read what is recorded of a compile, on which advice against the recompile depends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from dynascope.facts import model
from dynascope.facts.file_names import is_of_library
from dynascope.facts.recompiles.guarded_value import GuardedValue, number_wanted, readable
from dynascope.facts.recompiles.spared import Spared, numbers_in
from dynascope.facts.user_stack import UserFrame

Keyed = Literal["dict", "keywords"]
"""A dict of the program, or the `**kwargs` of a function."""


class Served(Struct, frozen=True):
    """A compile in which a size or number is dynamic."""

    compile_id: str
    symbol: model.Symbol
    conditions: Sequence[str]
    """Its shape guards."""
    numbers: Mapping[str, float]
    """The sizes and numbers among the arguments of its call."""


class Alone(Struct, frozen=True):
    """A compile that fits one number alone, because it wants other values to be others than a dynamic one does."""

    compile_id: str
    number: float
    others: Sequence[str]
    """The names of these values: `mask`."""


class Known(Struct, frozen=True, kw_only=True):
    """The facts, besides failed guards, on which advice about a recompile depends."""

    conditions: Sequence[str] | None = None
    """The shape guards of the compile that follows (`SHAPE_ENV`); None: unknown."""
    together: Sequence[str] = ()
    """The other sizes and numbers that changed in the same calls, where there are no shape guards.

    For a dtype they are the other tensors that changed theirs.
    """
    is_fixed: bool = False
    """Whether the code holds the size to what it is, also where it would be dynamic."""
    needed_at: tuple[str, int] | None = None
    """The file and line that made Dynamo fix the size or number to its value; None where none is recorded."""
    fixed_in: str = ""
    """The backend that fixed the number while it compiled the graph; "" where a line of the program did."""
    fixed_by: str = ""
    """The parameter, or buffer, of a module that has the size; "" where it is not held to that of one."""
    dynamic: bool | None = None
    """The value of `torch.compile(dynamic=…)` that has the effect of the settings; None also if unknown."""
    is_rest: bool = False
    """Whether it is a resume function's."""
    caller: str = ""
    """The function that calls, where it is a compiled one itself; "" elsewhere."""
    compile_id: str = ""
    """The id of the newest compile that the value has caused; "" where it is not recorded."""
    is_static: bool = False
    """Whether a guard of that compile wants the value to be what it was."""
    served: tuple[Served, ...] = ()
    """The compiles in which the size or number is dynamic, the newest last."""
    alone: tuple[Alone, ...] = ()
    """The compiles of the function that no compile in `served` stands for."""
    is_dynamic_now: bool = False
    """Whether it is dynamic in the compile in progress."""
    keyed: Keyed | None = None
    """Whether the guarded length or keys are of a dict or of `**kwargs`; None: of neither."""
    spared: Spared | None = None
    """The compiles of the function that it would have spared to make the value dynamic at once; None: unknown."""


NOTHING = Known()


def of_compile(facts: model.CompileFacts, subject: GuardedValue, is_rest: bool) -> Known:
    """Return what is recorded of the compile that a changed value has caused."""
    conditions = shape_guards(facts)
    fixed = [each for each in facts.specializations if subject.text in map(readable, each.origins)]
    symbols = (each for each in facts.symbols if is_dynamic(each, subject))
    return Known(
        conditions=conditions,
        is_fixed=bool(fixed),
        needed_at=next(((at.path, at.line) for at in map(_users_line, fixed) if at.path and at.line), None),
        fixed_in=next((each.backend for each in fixed if each.path and each.line), ""),
        fixed_by=_parameter_beside(fixed),
        dynamic=None if facts.call is None else facts.call.dynamic,
        is_rest=is_rest,
        compile_id=facts.compile.compile_id,
        is_static=_is_static(facts, subject, conditions),
        served=tuple(Served(facts.compile.compile_id, each, conditions, numbers_in(facts)) for each in symbols)[:1],
        keyed=_keyed(facts, subject),
    )


def _users_line(fact: model.Specialization) -> UserFrame:
    """Return the innermost line of the program; in a library only where all lines are."""
    users = (each for each in reversed(fact.stack) if not is_of_library(each.path))
    return next(users, UserFrame(fact.path, fact.line, ""))


_OF_MODULE = re.compile(r"(?:parameter|buffer) (.+?): ")


def _parameter_beside(fixed: Iterable[model.Specialization]) -> str:
    """Return the parameter or buffer because of which an operation fixed a size, or ""."""
    found = (_OF_MODULE.match(each.beside) for each in fixed)
    return next((each[1] for each in found if each is not None), "")


def shape_guards(facts: model.CompileFacts) -> list[str]:
    """Return the conditions on sizes and numbers (`SHAPE_ENV`)."""
    return [code for each in facts.guards if each.kind == "SHAPE_ENV" for code in each.code]


def _is_static(facts: model.CompileFacts, subject: GuardedValue, conditions: Sequence[str]) -> bool:
    """Whether a compile is for one number of a value alone; sizes are, unless they are dynamic."""
    of_value = (each for each in facts.guards if readable(each.expression) == subject.text)
    fixed = any(each.kind in ("EQUALS_MATCH", "CONSTANT_MATCH") for each in of_value)
    held = (each for each in conditions if readable(each).partition(" == ")[0] == subject.text)
    return subject.kind == "size" or fixed or any(number_wanted(each) is not None for each in held)


def is_dynamic(symbol: model.Symbol, subject: GuardedValue) -> bool:
    """Whether it is the symbol of a guarded value, and stands for more than a number."""
    return stands_for_more(symbol) and any(readable(origin) == subject.text for origin in symbol.origins)


def stands_for_more(symbol: model.Symbol) -> bool:
    """Whether a symbol is not fixed to one number."""
    return number_wanted(symbol.replacement or "") is None


def _keyed(facts: model.CompileFacts, subject: GuardedValue) -> Keyed | None:
    if facts.call is not None and facts.call.keywords == subject.expression:
        return "keywords"
    dicts = (each.expression for each in facts.guards if each.kind == "DICT_KEYS_MATCH")
    return "dict" if any(readable(each) == readable(subject.expression) for each in dicts) else None
