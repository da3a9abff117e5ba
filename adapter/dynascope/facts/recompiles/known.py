"""Keep what is known of a recompile besides the guards that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from dynascope.facts import model
from dynascope.facts.recompiles.guarded_value import GuardedValue, readable

Keyed = Literal["dict", "keywords"]
"""A dict of the program, or the `**kwargs` of a function."""


class Known(Struct, frozen=True, kw_only=True):
    """The facts, besides failed guards, on which advice about a recompile depends."""

    conditions: Sequence[str] | None = None
    """The shape guards of the compile that follows (`SHAPE_ENV`); None: unknown."""
    together: Sequence[str] = ()
    """The other sizes and numbers that have changed from the same value to the same, of use without conditions."""
    is_fixed: bool = False
    """Whether the code holds the size to what it is, also where it would be dynamic."""
    dynamic: bool | None = None
    """The value of `torch.compile(dynamic=…)` that has the effect of the settings; None also if unknown."""
    is_rest: bool = False
    """Whether it is a resume function's."""
    keyed: Keyed | None = None
    """Whether the guarded length or keys are of a dict or of `**kwargs`; None: of neither."""


NOTHING = Known()


def of_compile(facts: model.CompileFacts, subject: GuardedValue, is_rest: bool) -> Known:
    """Return what is recorded of the compile that a changed value has caused."""
    return Known(
        conditions=[code for each in facts.guards if each.kind == "SHAPE_ENV" for code in each.code],
        is_fixed=any(readable(origin) == subject.text for each in facts.specializations for origin in each.origins),
        dynamic=None if facts.call is None else facts.call.dynamic,
        is_rest=is_rest,
        keyed=_keyed(facts, subject),
    )


def _keyed(facts: model.CompileFacts, subject: GuardedValue) -> Keyed | None:
    if facts.call is not None and facts.call.keywords == subject.expression:
        return "keywords"
    dicts = (each.expression for each in facts.guards if each.kind == "DICT_KEYS_MATCH")
    return "dict" if any(readable(each) == readable(subject.expression) for each in dicts) else None
