"""Convert JSON to LSP's types, as pygls does, but take only a list for a list.

cattrs takes any iterable: a text of 100,000 characters, of which none is a folder, keeps it for half a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args, get_origin

from cattrs import Converter
from pygls.protocol import default_converter


def converter() -> Converter:
    """Return a converter for a server."""
    made: Converter = default_converter()  # type: ignore[no-untyped-call]
    made.register_structure_hook_factory(_is_list, _of_list)
    return made


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is Sequence


def _of_list(kind: Any, made: Converter) -> Callable[[Any, Any], list[Any]]:
    (inner,) = get_args(kind)
    hook = made.get_structure_hook(inner)

    def structure(value: Any, _: Any) -> list[Any]:
        if not isinstance(value, list):
            raise TypeError(f"expected a list, not {type(value).__name__}")
        return [hook(each, inner) for each in value]

    return structure
