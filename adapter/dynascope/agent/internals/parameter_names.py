"""Name the parameters of modules, without running code of the program."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_WRAPPERS = ("_orig_mod.", "_fsdp_wrapped_module.")
"""The parts that torch.compile (2.0) and FSDP (1.12) add to the names of parameters."""
_MOST_UNKNOWN = 32
"""How often a parameter may be searched for in vain; later ones are not."""


def parameters_of(module: Any, prefix: str = "") -> Iterator[tuple[Any, str]]:
    """Yield the parameters of a module and of those in it, with their names."""
    own = object.__getattribute__(module, "__dict__")
    yield from ((each, f"{prefix}{name}") for name, each in own["_parameters"].items() if each is not None)
    for name, each in own["_modules"].items():
        if each is not None:
            yield from parameters_of(each, f"{prefix}{name}.")


def is_parameter(value: object) -> bool:
    """Whether a value is a parameter of a module; its `__class__` is not asked."""
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(type(value), torch.nn.Parameter)


def is_module(value: object) -> bool:
    """Whether a value is a module; its `__class__` is not asked."""
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(type(value), torch.nn.Module)


def listed_modules(path: str, values: Mapping[str, Any]) -> Sequence[Any]:
    """Return the modules in a list, or in a module that is one, `self.blocks`.

    `values` are the local variables. Empty for what else may have that name.
    """
    first, *names = path.split(".")
    found: Any = values.get(first)
    for name in names:
        try:
            own = object.__getattribute__(found, "__dict__")
        except AttributeError:
            return ()
        found = own.get(name, own.get("_modules", {}).get(name)) if type(own) is dict else None
    if type(found) in (list, tuple):
        return found if all(map(is_module, found)) else ()
    torch = sys.modules.get("torch")
    is_list = torch is not None and issubclass(type(found), (torch.nn.ModuleList, torch.nn.Sequential))
    return [*object.__getattribute__(found, "__dict__")["_modules"].values()] if is_list else ()


class ParameterNames:
    """The names of the parameters of modules that were looked at, which keep no parameter alive."""

    def __init__(self) -> None:
        self._names: dict[int, tuple[weakref.ref[Any], str, int]] = {}
        """The name of each parameter, and its number in its module."""
        self._unknown = 0

    def name_of(self, parameter: Any, modules: Iterable[Any]) -> str | None:
        """Return the name of a parameter in the first of some modules that has it, or None."""
        if (known := self.known(parameter)) is None and self._unknown < _MOST_UNKNOWN:
            for module in modules:
                self._add(module)
                if (known := self.known(parameter)) is not None:
                    break
            self._unknown += known is None
        return None if known is None else known[0]

    def known(self, parameter: Any) -> tuple[str, int] | None:
        """Return the name of a parameter and its number in its module, once that is known."""
        found = self._names.get(id(parameter))
        return found[1:] if found is not None and found[0]() is parameter else None

    def _add(self, module: Any) -> None:
        for number, (parameter, name) in enumerate(parameters_of(module)):
            for wrapper in _WRAPPERS:
                name = name.replace(wrapper, "")
            self._names[id(parameter)] = weakref.ref(parameter), name.removeprefix("module."), number
