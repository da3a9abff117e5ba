"""Tell the class of an object of the program. Its `__class__` is not asked: that may be code of the program."""

from __future__ import annotations

_OF_OTHERS = {"torch", "builtins", "collections", "numpy"}


def class_of_program(value: object) -> str | None:
    """Return `a Counter`; None for an object of a class of Python, torch or numpy."""
    kind = type(value)
    module = str(type.__getattribute__(kind, "__module__"))
    return None if module.partition(".")[0] in _OF_OTHERS else with_article(kind)


def with_article(kind: type) -> str:
    """Return the name of a class after its article: `an Adapter`."""
    name = str(type.__getattribute__(kind, "__name__"))
    return f"{'an' if name[:1].lower() in tuple('aeiou') else 'a'} {name}"
