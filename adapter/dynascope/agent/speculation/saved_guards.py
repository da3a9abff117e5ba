"""Have torch save the guards of a cache entry as for a package, to memory, and load them again on the side."""

from __future__ import annotations

import contextlib
import io
import pickle
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch._dynamo import package
from torch._dynamo.exc import PackageError

from dynascope.agent.internals.guards.costs import check
from dynascope.agent.speculation.rebuilt_guards import Filter, Rebuilding, Rebuilt, on_the_side

_IDENTITIES = {"ID_MATCH", "CLOSURE_MATCH", "WEAKREF_ALIVE", "DICT_VERSION"}


@dataclass(slots=True)
class Trouble:
    """Why torch cannot save or load guards, or why they are false when they are loaded, in torch's words."""

    at: Literal["save", "load", "use"]
    reason: str


@dataclass(slots=True)
class Saved:
    """The `torch._guards.Guard`s that torch saves with compiled code, and those that it does not."""

    kept: list[Any]
    dropped: list[Any]
    size: int
    """The number of bytes; 0 where torch refuses."""
    trouble: Trouble | None
    """The first failure; None if all guards are saved, loaded, and true when they are loaded."""
    refused: list[tuple[Any, Trouble]]
    """Each guard that torch refuses to save or load, with the reason."""
    rest: Saved | None
    """The result of saving the other guards; None if nothing is refused."""


class Saving:
    """Saves guards of a cache entry for the values of a frame for which they are true."""

    def __init__(self, rebuilding: Rebuilding) -> None:
        self._rebuilding, self._source = rebuilding, rebuilding.source

    def by_aot_compile(self) -> Saved:
        """Save as `aot_compile.aot_compile_fullgraph` (2.9), whose filter the program's replaces."""
        return self._saved(_all if self._source.has_filter else _filter_of_aot_compile)

    def by_caching_precompile(self) -> Saved:
        """Save as with `config.caching_precompile` (2.9)."""
        return self._saved(_filter_of_caching_precompile)

    def _saved(self, keeps: Filter) -> Saved:
        gone = self._source.dropped if self._source.has_filter else []
        are_gone = {id(guard) for guard in gone}
        saving = self._save([guard for guard in self._source.guards if id(guard) not in are_gone], keeps)
        kept = {id(guard) for guard in saving.kept}
        dropped = [guard for guard in saving.all_guards if id(guard) not in kept]
        dropped += self._save(gone, _all).all_guards if gone else []
        saved = Saved(saving.kept, dropped, len(saving.saved), self._trouble(saving), [], None)
        if saved.trouble is not None:
            self._explain(saved, saving)
        return saved

    def _explain(self, saved: Saved, saving: _Saving) -> None:
        by_kind = {id(guard) for guard, _ in saving.refused}
        good: list[Any] = []
        refused = self._refused([guard for guard in saved.kept if id(guard) not in by_kind], good)
        # some are refused for want of others: values of which no guard reads a part are not saved
        refused = [each for guard, _ in refused for each in self._refused([guard], good)]
        saved.refused = saving.refused + refused
        rest = self._save(good, _all)
        saved.rest = Saved(rest.kept, [], len(rest.saved), self._trouble(rest), [], None)

    def _refused(self, guards: list[Any], good: list[Any]) -> list[tuple[Any, Trouble]]:
        """Find those that torch refuses beside `good`, which the others are added to."""
        trouble = self._trouble(self._save(good + guards, _all)) if guards else None
        if trouble is None:
            good += guards
            return []
        if len(guards) == 1:
            return [(guards[0], trouble)]
        middle = len(guards) // 2
        return self._refused(guards[:middle], good) + self._refused(guards[middle:], good)

    def _save(self, guards: Sequence[Any], keeps: Filter) -> _Saving:
        return self._rebuilding.built(_Saving, guards, keeps, save_guards=True)

    def _trouble(self, saving: _Saving) -> Trouble | None:
        if saving.error is not None:
            return Trouble("save", saving.error)
        try:
            with contextlib.ExitStack() as copies:
                with on_the_side(), _as_at_the_start():
                    guards = self._rebuilding.loaded(copies.enter_context(loaded(saving.saved)))
                failed = check(guards, self._rebuilding.values).failed
                return None if failed is None else Trouble("use", failed)
        except Exception as error:
            return Trouble("load", _text(error))


class _Saving(Rebuilt):
    """A manager that notes what torch refuses to save, and why, in place of raising the first error."""

    def serialize_guards(self, builder: Any, sorted_guards: list[Any], output_graph: Any) -> bytes:
        self.all_guards, self.kept = list(output_graph.guards), list(sorted_guards)
        reasons = [(guard, self._refusal(builder, guard)) for guard in sorted_guards]
        self.refused = [(guard, Trouble("save", reason)) for guard, reason in reasons if reason is not None]
        self.error: str | None = None
        self.saved = b""
        try:
            self.saved = super().serialize_guards(builder, sorted_guards, output_graph)
        except Exception as error:  # of torch, or of what pickle calls in the program
            self.error = _text(error)
        return self.saved

    def _refusal(self, builder: Any, guard: Any) -> str | None:
        """Return why torch cannot save a guard of this kind.

        Whether its value can be pickled is asked later.
        """
        try:
            super().serialize_guards(builder, [guard], _NoGraph())
        except _Accepted:
            return None
        except Exception as error:
            return _text(error)
        raise AssertionError("torch saves guards without a graph")


class _Accepted(Exception):
    """Raised where torch begins to pickle, after it has looked at each guard."""


class _NoGraph:
    """Stands for the `OutputGraphCommon` whose guards are looked at and not pickled."""

    name_of_builtins_dict_key_in_fglobals = None

    def dump_guards_state(self) -> None:
        raise _Accepted


def _all(guards: Sequence[Any]) -> list[bool]:
    """Keep every guard.

    With a filter torch builds guards twice, and up to 2.14 the first build adds to what the save refuses.
    """
    return [True for _ in guards]


def _filter_of_aot_compile(guards: Sequence[Any]) -> list[bool]:
    """Keep what `aot_compile_fullgraph` (2.9) keeps of itself: nothing global."""
    unsupported = Rebuilt.UNSUPPORTED_SERIALIZATION_GUARD_TYPES
    return [not (guard.is_global or guard.guard_type in unsupported) for guard in guards]


def _filter_of_caching_precompile(guards: Sequence[Any]) -> list[bool]:
    """Keep what `CheckFunctionManager` keeps with `config.caching_precompile` (2.9)."""
    derived = {"ID_MATCH", "DICT_VERSION"}
    return [guard.guard_type not in _IDENTITIES and derived.isdisjoint(guard.derived_guard_types) for guard in guards]


@contextlib.contextmanager
def _as_at_the_start() -> Iterator[None]:
    """Load in the state in which a program begins.

    Up to 2.13 torch makes the guards on tensors from the state in which they are loaded.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        for device in ("cpu", "cuda"):
            if torch.is_autocast_enabled(device):
                stack.enter_context(torch.autocast(device, enabled=False))
        yield


def _text(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, PackageError) else f"{type(error).__name__}: {text}"


_FSDP = "torch.distributed.fsdp._fully_shard._fully_shard"
_HEAP_TYPE = 1 << 9
"""Py_TPFLAGS_HEAPTYPE: a class that a class statement has made, for instance."""


@contextlib.contextmanager
def loaded(saved: bytes) -> Iterator[Any]:
    """Load as `package.load_guards_state` (2.9); import FSDP only where the program has.

    The `__del__` of a class of the program's would be called for the copies, which the program has never made.
    """
    unpickler = getattr(package, "_GuardsStateUnpickler", pickle.Unpickler)(io.BytesIO(saved))  # 2.15
    fsdp = sys.modules.get(_FSDP)
    try:
        with contextlib.nullcontext() if fsdp is None else fsdp.disable_fsdp_module_new_init():
            state = unpickler.load()
        yield state
    finally:
        for copy in unpickler.memo.copy().values():
            if any("__del__" in vars(each) for each in type(copy).__mro__):
                _take_finalizer(copy)


def _take_finalizer(copy: object) -> None:
    """Make it an instance of a class of the same layout that has no `__del__` to be called."""
    kind = type(copy)
    layout, classes = kind, []
    while layout.__flags__ & _HEAP_TYPE and layout.__base__ is not None:
        classes.append(layout)
        layout = layout.__base__
    for each in reversed(classes):
        layout = type(each.__name__, (layout,), {name: vars(each)[name] for name in vars(each) if name == "__slots__"})
    try:
        object.__setattr__(copy, "__class__", layout)
    except TypeError:  # slots that are added to those of a base class: only one with the same base is like it
        if type(kind) is type and not any("__init_subclass__" in vars(each) for each in kind.__mro__[:-1]):
            derived = type(kind.__name__, (kind,), {"__slots__": (), "__del__": lambda copy: None})
            object.__setattr__(copy, "__class__", derived)
