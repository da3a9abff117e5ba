"""Read in the frames of a rank that waits what the conditions of their functions ask, without running its code."""

from __future__ import annotations

import ast
import ctypes
import enum
import re
import sys
import time
import traceback
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from msgspec import structs

from dynascope.agent.internals.data_loaders import is_data_loader, length_of
from dynascope.agent.internals.distributed_values import settings_of, text_of
from dynascope.agent.internals.frames.translators import locals_of
from dynascope.agent.ranks.called import users_frames
from dynascope.agent.ranks.object_classes import with_article
from dynascope.facts.comparison.plain_branch import MODULE, FrameValues
from dynascope.facts.comparison.plain_reads import globals_read, names_read
from dynascope.facts.user_stack import UserFrame

_MOST_NAMES = 48
"""The most names that are read in a frame."""
_LONGEST = 60
"""The most characters of a value."""
_MOST_ATTRIBUTES = 128
"""The most attributes of objects that are read in a frame."""
_MOST_LOCALS = 256
"""The most local variables of a frame that are looked at, whether or not the code reads them there."""
_MOST_ELEMENTS = 4
"""The most elements of a list, tuple or dictionary that are read."""
_PLAIN = (bool, int, float, str, bytes, type(None), type, types.ModuleType, types.FunctionType)
_SIZED = (list, tuple, dict, set, defaultdict, OrderedDict, deque)
_SCALARS: dict[str, Any] = {
    "torch.float32": ctypes.c_float,
    "torch.float64": ctypes.c_double,
    "torch.int32": ctypes.c_int32,
    "torch.int64": ctypes.c_int64,
    "torch.bool": ctypes.c_bool,
}
_SHARE = 0.02
"""The most time that a process spends on values as collectives begin, as a share of all time."""
_MOST_SECONDS = 0.2
"""The most seconds that it spends on many at once."""
_COUNT = re.compile(r"(of length )?\d+")
_UNKNOWN: Any = object()


def values_in(frames: Iterable[tuple[types.FrameType, int]]) -> list[FrameValues]:
    """Return the values in the user's frames.

    Each frame is passed with its line, the innermost first.
    """
    users = [(_Locals(frame), user) for frame, user in users_frames(frames)]
    found = []
    for at, (local, user) in enumerate(users):
        values: dict[str, str] = {}
        objects: list[dict[str, str]] = []
        with suppress(Exception):  # an object of the program may have anything in its `__dict__`
            known = local.globals(user.path) if user.function == MODULE else {}
            values = known | local.attributes() | local.values(names_read(user.path, user.line)[:_MOST_NAMES])
            objects = [local.names_in(caller) for caller, _ in users[at + 1 :]]
        found.append(FrameValues(user.path, user.function, values, objects))
    return [*found, *_globals_of(users)]


def _globals_of(users: Sequence[tuple[_Locals, UserFrame]]) -> Iterator[FrameValues]:
    """Yield the global variables by which functions decide that the rank may have left."""
    modules = {user.path for _, user in users if user.function == MODULE}
    for path, local in {user.path: local for local, user in users if user.path not in modules}.items():
        with suppress(Exception):  # as above
            if values := local.globals(path):
                yield FrameValues(path, MODULE, values)


def counts_in(frames: Iterable[tuple[types.FrameType, int]]) -> list[FrameValues]:
    """Return the whole numbers and the lengths among the values in the user's frames."""
    return [
        structs.replace(each, values={name: text for name, text in each.values.items() if _COUNT.fullmatch(text)})
        for each in values_in(frames)
    ]


class _Locals:
    """The local variables of a frame, and the attributes of objects of the program's classes."""

    def __init__(self, frame: types.FrameType) -> None:
        self._globals = frame.f_globals
        self._values = locals_of(frame)
        self._objects = {
            name: each
            for name, each in self._values.items()
            if not name.startswith("__") and _is_of_program(each)  # of a module, not what Python puts there
        }
        self._containers = {
            name: each for name, each in islice(self._values.items(), _MOST_LOCALS) if _is_container(each)
        }
        self._owned = {name: _own(each) for name, each in self._objects.items()}
        self._known: dict[int, str] | None = None

    def values(self, names: Iterable[str]) -> dict[str, str]:
        read = {name: _value(_parsed(name), self._values, self._globals) for name in names}
        return _texts(read.items()) | self._distributed()

    def globals(self, path: str) -> dict[str, str]:
        names = globals_read(path)[:_MOST_NAMES]
        return _texts((name, _value(_parsed(name), {}, self._globals)) for name in names)

    def attributes(self) -> dict[str, str]:
        """Return the values of attributes of objects, and of attributes of these."""
        direct = {f"{name}.{each}": value for name, own in self._owned.items() for each, value in _public(own)}
        inner = (
            (f"{name}.{each}", value)
            for name, part in direct.items()
            if _is_of_program(part)
            for each, value in _public(_own(part))
        )
        return dict(islice(_texts(chain(direct.items(), inner)).items(), _MOST_ATTRIBUTES))

    def _distributed(self) -> dict[str, str]:
        """Return the texts of process groups, meshes, DTensors, containers and data loaders."""
        texts: dict[str, str] = {}
        for name, value in islice(self._values.items(), _MOST_LOCALS):
            texts |= _settings(name, value)
            if (known := text_of(value)) is not None:
                texts[name] = known
        return texts | {name: text for name, each in self._containers.items() if (text := _text(each)) is not None}

    def names_in(self, caller: _Locals) -> dict[str, str]:
        """Return a caller's names for the objects: `guard` for `self`."""
        known = caller.known()
        own = (self._objects | self._containers).items()
        return {name: known[id(each)] for name, each in own if id(each) in known}

    def known(self) -> dict[int, str]:
        """Return the names of objects, and of objects that are their attributes, by identity."""
        if self._known is None:
            parts = {
                id(part): f"{name}.{attribute}"
                for name, own in self._owned.items()
                for attribute, part in islice(own.items(), _MOST_ATTRIBUTES)
                if _is_of_program(part) or _is_container(part)
            }
            own = (self._objects | self._containers).items()
            self._known = parts | {id(each): name for name, each in own}
        return self._known


@lru_cache(1024)
def _parsed(name: str) -> ast.expr:
    return ast.parse(name, mode="eval").body


class ValuesAtCalls:
    """Read the values in this thread's frames as collectives begin, in a small share of the program's time."""

    def __init__(self) -> None:
        self._left = _MOST_SECONDS
        self._since = time.perf_counter()

    def read(self) -> list[FrameValues] | None:
        """Return the values; None where reading them has taken its share of the time."""
        began = time.perf_counter()
        self._left = min(_MOST_SECONDS, self._left + _SHARE * (began - self._since))
        self._since = began
        if self._left <= 0:
            return None
        found = values_in(traceback.walk_stack(sys._getframe()))
        self._left -= time.perf_counter() - began
        return found


def values_of_thread(thread: int) -> list[FrameValues]:
    """Return the values in the user's frames of a thread that waits."""
    return values_in(traceback.walk_stack(frame)) if (frame := sys._current_frames().get(thread)) is not None else []


def _value(node: ast.expr, local: Mapping[str, Any], globals_: Mapping[str, Any]) -> Any:
    """Return the value of a name, an attribute or an element.

    `_UNKNOWN` where code of the program would have to run.
    """
    match node:
        case ast.Name(id=name):
            return local.get(name, globals_.get(name, _UNKNOWN))
        case ast.Attribute(value=owner, attr=name):
            return _attribute(_value(owner, local, globals_), name)
        case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
            container = _value(owner, local, globals_)
            if type(container) is dict:
                return container.get(key, _UNKNOWN)
            is_there = type(container) in (list, tuple) and type(key) is int and key < len(container)
            return container[key] if is_there else _UNKNOWN
        case ast.Call(args=[operand]):
            counted = _value(operand, local, globals_)
            length = length_of(counted)
            return _UNKNOWN if length is None else length
    return _UNKNOWN


def _attribute(owner: Any, name: str) -> Any:
    torch = sys.modules["torch"]
    if name == "shape" and type(owner) in (torch.Tensor, torch.nn.Parameter):
        with torch._C.DisableTorchFunction():
            return tuple(owner.shape)
    if owner is _UNKNOWN:
        return _UNKNOWN
    if issubclass(type(owner), enum.EnumMeta):
        return type.__getattribute__(owner, "_member_map_").get(name, _UNKNOWN)
    own = _own(owner)
    return own[name] if name in own else _of_class(type(owner), name)


def _of_class(kind: type, name: str) -> Any:
    """Return a constant of a class; `_UNKNOWN` for another attribute, such as a property."""
    for each in type.__getattribute__(kind, "__mro__"):
        found = type.__getattribute__(each, "__dict__").get(name, _UNKNOWN)
        if found is not _UNKNOWN:
            return found if type(found) in (bool, int, float, str) else _UNKNOWN
    return _UNKNOWN


def _own(owner: Any) -> dict[str, Any]:
    """Return the attributes of an object.

    Of a module also its parameters and modules, of a data loader those of its dataset.
    """
    try:
        own = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    if type(own) is not dict or issubclass(type(owner), _PLAIN):
        return {}
    parts = (own.get(each) for each in ("_parameters", "_buffers", "_modules"))
    found = {name: each for part in parts if type(part) is dict for name, each in part.items()} | own
    if is_data_loader(owner):
        found |= {f"dataset.{name}": each for name, each in _own(own.get("dataset")).items()}
    return found


def _is_of_program(value: Any) -> bool:
    """Whether a value is an object of which attributes are read.

    It is of a class that is not torch's, an optimizer or its scheduler, or a data loader.
    Its `__class__` is not asked: that may be code of the program.
    """
    kind = type(value)
    if issubclass(kind, (*_PLAIN, enum.Enum)):
        return False
    if is_data_loader(value):
        return length_of(value) is None  # only its dataset may tell how many batches there are
    module = str(type.__getattribute__(kind, "__module__"))
    return module.startswith("torch.optim.") or not module.startswith(("torch.", "builtins", "collections"))


def _is_container(value: Any) -> bool:
    """Whether a caller may know a value by another name: a container, or a data loader."""
    return type(value) in (list, dict, set) or is_data_loader(value)


def _public(own: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in islice(own.items(), _MOST_ATTRIBUTES) if not name.startswith("_"))


def _texts(values: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return values as texts by name, with elements of containers among them."""
    found: dict[str, str] = {}
    for name, value in values:
        if (text := _text(value)) is not None:
            found[name] = text
            found |= _elements(name, value)
            found |= _settings(name, value)
    return found


def _elements(name: str, container: Any) -> dict[str, str]:
    """Return the texts, truth values and placements in a container.

    Numbers in it differ by right.
    """
    if type(container) in (list, tuple):
        pairs: Iterable[tuple[Any, Any]] = enumerate(container[:_MOST_ELEMENTS])
    elif type(container) is dict:
        pairs = [each for each in islice(container.items(), _MOST_ELEMENTS) if type(each[0]) is str]
    else:
        return {}
    texts = {f"{name}[{key!r}]": _text(each) if type(each) in (str, bool) else text_of(each) for key, each in pairs}
    return {name: text for name, text in texts.items() if text is not None}


def _settings(name: str, value: Any) -> dict[str, str]:
    return {f"{name}.{setting}": repr(each) for setting, each in settings_of(value).items()}


def _number(value: float) -> str:
    """Return a float as text, which no whole number has: `1.0`."""
    text = f"{value:.6g}"
    return f"{text}.0" if text.lstrip("-").isdecimal() else text


def _text(value: Any) -> str | None:
    """Return a value as text; None for an object of the program."""
    if value is None or type(value) in (bool, int, float, str):
        text = _number(value) if type(value) is float else repr(value)
        return text if len(text) <= _LONGEST else None
    if type(value) in _SIZED:
        return f"of length {len(value)}"
    if type(value) is re.Pattern:
        return f"re.compile({value.pattern!r})"[:_LONGEST]
    if issubclass(type(value), enum.Enum):
        return f"{type(value).__name__}.{vars(value).get('_name_')}"
    torch = sys.modules["torch"]
    if type(value) in (torch.Tensor, torch.nn.Parameter):
        with torch._C.DisableTorchFunction():  # no mode of the program may see it
            scalar = _SCALARS.get(str(value.dtype)) if value.device.type == "cpu" and value.numel() == 1 else None
            # its memory: an operator, such as that of `item()`, would be seen by modes and profilers
            return _text(scalar.from_address(value.data_ptr()).value) if scalar else f"of size {list(value.shape)}"
    if (known := text_of(value)) is not None:
        return known
    if is_data_loader(value) and (batches := length_of(value)) is not None:
        return f"a DataLoader of {batches} batches"
    return with_article(type(value)) if _own(value) else None
