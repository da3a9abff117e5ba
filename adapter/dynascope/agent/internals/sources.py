"""Sources: the expression by which the compiled code will find an input again, and how Dynamo has put it together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from torch import _guards


def source_text(source: Any) -> str | None:
    """A `torch._guards.Source` as Dynamo writes it, `L['x'].shape[0]`; `Source.name` was a method before 2.11."""
    if source is None:
        return None
    try:
        name = source.name
        return str(name() if callable(name) else name)
    except Exception:  # some sources (a SyntheticLocalSource, say) have no expression
        return type(source).__name__


def is_source(value: object) -> bool:
    """Whether this is a `torch._guards.Source` (2.0)."""
    return issubclass(type(value), _guards.Source)


def guard_source_name(source: Any) -> str | None:
    """Where the input is: `LOCAL`, `GLOBAL_UNSPECIALIZED_NN_MODULE` … (`torch._guards.GuardSource`, 2.0)."""
    try:
        return str(source.guard_source.name)
    except Exception:  # some sources (a BackwardStateSource in some torch, say) are none of them
        return None


def answers(source: Any) -> Iterator[tuple[str, bool]]:
    """What a `torch._guards.Source` (2.0) says of itself: pure questions about its class and what it is based on."""
    for name in ("is_dict_key", "is_ephemeral", "subguards_allowed"):
        try:
            yield name, bool(getattr(source, name)())
        except Exception:  # one that cannot say has nothing to show
            continue


def parts(source: Any) -> dict[str, Any]:
    """The fields of its dataclass: `base`, which is a Source, and what it takes of that: `member`, `index` … (2.0)."""
    return {field.name: object.__getattribute__(source, field.name) for field in dataclasses.fields(source)}
