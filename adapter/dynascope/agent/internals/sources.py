"""Read sources: the expression by which compiled code finds an input, and the parts Dynamo built it from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from torch import _guards


def source_text(source: Any) -> str | None:
    """Return the text of a Source: `L['x'].shape[0]` (`Source.name`, a property since 2.11)."""
    if source is None:
        return None
    try:
        return str(source.name)
    except Exception:  # some sources (a SyntheticLocalSource, say) have no expression
        return type(source).__name__


def is_source(value: object) -> bool:
    """Whether this is a `torch._guards.Source` (2.0)."""
    return issubclass(type(value), _guards.Source)


def guard_source_name(source: Any) -> str | None:
    """Return an input's kind of place: `LOCAL`, `GLOBAL` … (`torch._guards.GuardSource`, 2.0)."""
    try:
        return str(source.guard_source.name)
    except Exception:  # some sources (a BackwardStateSource in some torch, say) are none of them
        return None


def answers(source: Any) -> Iterator[tuple[str, bool]]:
    """Yield the properties of a `torch._guards.Source` (2.0) that its methods compute purely."""
    for name in ("is_dict_key", "is_ephemeral", "subguards_allowed"):
        try:
            yield name, bool(getattr(source, name)())
        except Exception:  # a source without the property has no row
            continue


def parts(source: Any) -> dict[str, Any]:
    """Return the fields of the source's dataclass (2.0): `base`, a Source, `member`, `index` …."""
    return {field.name: object.__getattribute__(source, field.name) for field in dataclasses.fields(source)}
