"""Read the guards of a compile: the conditions on the inputs under which the compiled code is used again."""

from __future__ import annotations

import enum
import functools
import re
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynascope.agent.internals.compile.failed_guard import object_of, value_text
from dynascope.agent.internals.sources import source_text
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_long, is_tensor
from dynascope.explain.problem import where
from dynascope.facts.model import Guard
from dynascope.facts.recompiles.guarded_value import readable

_USER_LINE = re.compile(r"([^#\s][^#]*?):(\d+) in \S+$")
"""`model.py:12 in forward`, alone or after the line's text and `  # `."""
_OF_MODULE = re.compile(
    r"(?:\.__dict__\['(?:_modules|_parameters|_buffers)'\]|\.(?:_modules|_parameters|_buffers|__dict__))\['(\w+)'\]"
)
_MISSING = object()
_GLOBAL = re.compile(r"G\['(?P<name>\w+)'\]")
_SHOWN_SYMBOLS = 4
"""The most symbols of one expression whose sources are told."""
_SIZE = re.compile(r"\.size\(\)\[(\d+)\]")


@dataclass(slots=True)
class GuardFact:
    """One guard: the expression it guards, its type (`TENSOR_MATCH` …), the user's line, its code once it has some."""

    source: str
    kind: str
    file: str | None
    line: int | None
    code: list[str]
    guard: Any
    """The `torch._guards.Guard`, for `guard_details`."""

    def __str__(self) -> str:
        return f"{self.kind} {readable(self.source)}".strip()


@dataclass(slots=True)
class ShapeGuardFact:
    """A guard on symbols: its expression, and the lines of torch and of the user that required it."""

    expression: str
    user_line: str | None
    """As torch writes it: `if x.shape[0] > 5:  # model.py:12 in forward`, the path without its beginning."""
    user_place: tuple[str, int] | None
    framework: tuple[str, int, str] | str | None
    size_oblivious: bool
    sources: list[str]
    """Where the program has its symbols: `s27 is x.size()[1]`."""
    guard: Any
    """The `torch._guards.ShapeGuard`."""

    def __str__(self) -> str:
        return self.expression if self.user_place is None else f"{self.expression} ({where(*self.user_place)})"


@dataclass(slots=True)
class InputRelation:
    """A relation of inputs found by AOTAutograd: `DuplicateInputs` or `StorageOverlap`, with its sources by field."""

    kind: str
    sources: dict[str, list[Any]]


def guards_so_far(output: Any) -> tuple[Iterator[GuardFact], Iterator[GuardFact]]:
    """Return guards on sources, and guards on global state (`OutputGraph.guards.inner`, 2.0).

    Guards that come from a user's line are first, arguments before their parts, globals last. A guard's `code_list` is
    filled when the trace has ended.
    """
    ordered = sorted(output.guards.inner, key=_order)
    on_sources = (guard_fact(guard) for guard in ordered if guard.name)
    return on_sources, (guard_fact(guard) for guard in ordered if not guard.name)


_OF_MODULES = re.compile(
    r"\._(?:modules(?:\['[^']*'\])?|parameters|buffers|(?:forward|backward)(?:_pre)?_hooks(?:_with_kwargs)?)$"
)
"""A module or its own dicts, not what the program keeps in one, such as `self._modules['attention'].cache`."""
_SEEN = ("TENSOR_MATCH", "CONSTANT_MATCH", "EQUALS_MATCH", "ID_MATCH")
"""Kinds of guards on parts of modules that fail where a program is changed: on tensors, numbers, functions."""


def inner_part(fact: GuardFact) -> str:
    """Return which inner part of torch, which programs seldom change, a guard is on, or ""."""
    if not fact.source:
        return "state of torch"
    if fact.source.startswith(("G['__import_", "G['__builtins_dict__")):
        return "torch's own modules"
    return "modules and hooks" if _OF_MODULES.search(fact.source) and fact.kind not in _SEEN else ""


def _order(guard: Any) -> tuple[bool, bool, int, str]:
    """Return the key to sort by; guards on one source stay in the order in which they were made."""
    name = guard.name
    depth = name.count("[") + name.count(".")
    return not guard.user_stack, name.startswith("G["), depth, name


def guard_fact(guard: Any) -> GuardFact:
    """Return the fact of a `torch._guards.Guard` (2.0)."""
    stack = guard.user_stack
    summary = stack[-1] if stack else None
    return GuardFact(
        source=str(guard.name),
        kind=str(guard.create_fn_name()),
        file=getattr(summary, "filename", None),
        line=getattr(summary, "lineno", None),
        code=list(dict.fromkeys(guard.code_list or ())),
        guard=guard,
    )


def guards_on(output: Any, source: Any) -> list[GuardFact]:
    """Return the guards with exactly this source.

    Reads `GuardsSet.source_to_guards` (2.12), as `get_guards_for_source` does; in 2.11, all guards.
    """
    known = vars(output.guards).get("source_to_guards")
    if known is not None:
        found = known.get(source, ())  # the subscript of a defaultdict would add an entry
    else:
        name = source_text(source)
        found = [guard for guard in output.guards.inner if guard.name == name]
    return [guard_fact(guard) for guard in found]


class GuardedSources:
    """Tell what guards are on: names as in the program, and values. Nothing of the program runs."""

    def __init__(self, output: Any) -> None:
        """Read `OutputGraph.tracked_fakes` and `.local_scope` (2.0)."""
        self._output = output
        self._fakes = {source_text(each.source): each.fake for each in output.tracked_fakes if is_tensor(each.fake)}

    def name(self, fact: GuardFact) -> str:
        """Return `self.blocks[0].fc.weight`; torch's `G['scale']` where a local has that name, too."""
        root = _GLOBAL.match(fact.source)
        is_hidden = root is not None and root["name"] in self._output.local_scope
        return fact.source if is_hidden else readable(fact.source)

    def value(self, fact: GuardFact) -> str:
        """Return `f32[s77, 4]`, `list of 2`; "" where it cannot be read."""
        try:
            value = self._fakes.get(fact.source, _MISSING)
            if value is _MISSING:
                value = object_of(fact.source, self._output, _MISSING)
            return "" if value is _MISSING else value_text(value)
        except Exception:  # of the program's value, such as an integer of 5,000 digits
            return ""


def shape_guards_so_far(output: Any) -> Iterator[ShapeGuardFact]:
    """Return guards on symbols (`ShapeEnv.guards`, a list of `torch._guards.ShapeGuard`, 2.0)."""
    return (_shape_fact(output, guard) for guard in list(output.shape_env.guards))


def shape_guards_on(output: Any, symbols: frozenset[Any]) -> list[ShapeGuardFact]:
    """Return the guards whose expression (`ShapeGuard.expr`, 2.0) contains one of these symbols."""
    return [_shape_fact(output, guard) for guard in output.shape_env.guards if symbols & guard.expr.free_symbols]


def shape_conditions(output: Any) -> list[str] | None:
    """Return the guards on symbols as Dynamo will write them, of a trace that has ended.

    The trace must not be used any more. Calls `ShapeEnv.produce_guards_verbose` (2.7), as `GuardBuilder.SHAPE_ENV`
    does; None where it raises, such as for a mark that cannot be kept.
    """
    environment = output.shape_env
    tracked = environment.tracked_fakes or []
    try:
        written = environment.produce_guards_verbose(
            [each.fake for each in tracked],
            [each.source for each in tracked],
            input_contexts=[each.symbolic_context for each in tracked],
            langs=("python",),
        )
    except Exception:
        return None
    return [str(each) for each in written[0].exprs]


def _shape_fact(output: Any, guard: Any) -> ShapeGuardFact:
    location = getattr(guard, "sloc", None)
    user_line = getattr(location, "maybe_user_loc", None)
    framework = getattr(location, "framework_loc", None)
    if framework is not None and type(framework) is not str:
        framework = str(framework.filename), int(framework.lineno or 0), str(framework.name)
    return ShapeGuardFact(
        expression=str(guard.expr),
        user_line=user_line,
        user_place=_place_of(output, user_line) if user_line else None,
        framework=framework,
        size_oblivious=bool(getattr(guard, "size_oblivious", False)),
        sources=_sources_in(output, guard.expr),
        guard=guard,
    )


def _sources_in(output: Any, expression: Any) -> list[str]:
    """Return where the symbols of an expression are from (`ShapeEnv.var_to_sources`, 2.0)."""
    known = vars(output.shape_env).get("var_to_sources") or {}
    if is_long(expression):
        return []
    found = {str(symbol): source_text(known[symbol][0]) for symbol in expression.free_symbols if known.get(symbol)}
    return [f"{symbol} is {readable(source or '')}" for symbol, source in sorted(found.items())[:_SHOWN_SYMBOLS]]


def _place_of(output: Any, user_line: str) -> tuple[str, int] | None:
    """Return the traced file (`TracingContext.traced_code`, 2.7) that the shortened path ends."""
    match = _USER_LINE.search(user_line)
    if match is None:
        return None
    files = {code.co_filename for code in getattr(output.tracing_context, "traced_code", ())}
    found = [path for path in files if path.endswith(match[1])]
    return (found[0], int(match[2])) if len(found) == 1 else None


def symbols_of(output: Any, source: Any) -> frozenset[Any]:
    """Return symbols of an input, its sizes, strides, offset (`ShapeEnv.var_to_sources`, 2.0)."""
    wanted = source_text(source)
    known = vars(output.shape_env).get("var_to_sources") or {}
    return frozenset(
        symbol
        for symbol, sources in known.items()
        if any(wanted in (source_text(each), source_text(getattr(each, "base", None))) for each in sources)
    )


def input_relations(output: Any) -> list[InputRelation]:
    """Return AOTAutograd's guards, once it has run (`GuardsContext.aotautograd_guards`, 2.0)."""
    found = []
    for relation in output.tracing_context.guards_context.aotautograd_guards:
        fields = {name: value if type(value) is list else [value] for name, value in vars(relation).items()}
        found.append(InputRelation(type(relation).__name__, fields))
    return found


def number_of_guards(output: Any) -> int:
    """Return the number of guards now, those on symbols and those of AOTAutograd included."""
    return (
        len(output.guards.inner)
        + len(output.shape_env.guards)
        + len(output.tracing_context.guards_context.aotautograd_guards)
    )


def as_written(source: str) -> str:
    """Return a source as a user would write it: `L['self'].fc.weight`, `L['x'].shape[0]`.

    Dynamo writes `L['self']._modules['fc']._parameters['weight']` and `L['x'].size()[0]` (`torch._guards.Source`, 2.0).
    """
    return _SIZE.sub(r".shape[\1]", _OF_MODULE.sub(_member, source))


def _member(match: re.Match[str]) -> str:
    """Write a member by its name, or by its number in a ModuleList or Sequential."""
    return f"[{match[1]}]" if match[1].isdecimal() else f".{match[1]}"


def built_guards(output: Any, kept: Iterable[Any], real_path: Callable[[str], str]) -> list[Guard]:
    """Return the guards of an `OutputGraph` (2.0) that no filter has dropped, with their code.

    Reads `torch._guards.GuardsSet.inner` and `Guard.code_list`, `.user_stack`, `.create_fn_name` (2.0). `real_path`
    turns Dynamo's file names into paths; path and line are "" and 0 for a guard that comes from no line of the user.
    """
    found = []
    are_kept = {id(guard) for guard in kept}
    for guard in output.guards.inner:
        if id(guard) not in are_kept:  # a `guard_filter_fn` has dropped it
            continue
        stack, code = guard.user_stack, guard.code_list
        path, line = "", 0
        if stack:
            path, line = real_path(stack[-1].filename), stack[-1].lineno or 0
        found.append(
            Guard(
                path=path,
                line=line,
                expression=str(guard.name),
                kind=guard.create_fn_name(),
                code=[_with_member(part, guard, output) for part in code if not _is_boilerplate(part)] if code else [],
            )
        )
    return found


def _with_member(code: str, guard: Any, output: Any) -> str:
    """Return the code of a guard, with the member of an enumeration if it is on one.

    Torch 2.11 writes it so, and a later one its class: `___check_obj_id(L['mode'], 140), type=<class 'Mode'>`.
    """
    if not code.startswith("___check_obj_id(") or "type=<class " not in code:
        return code
    value = object_of(str(guard.name), output)
    if not isinstance(type(value), enum.EnumType):
        return code
    return f"{code.partition('type=<class ')[0]}type=<{value_text(value)}: {type(value).__name__}>"


def _is_boilerplate(part: str) -> bool:
    """Whether every tensor has it: `hasattr(L['x'], '_dynamo_dynamic_indices') == False`."""
    return part.startswith("hasattr(") and "'_dynamo_" in part and part.endswith("False")


Frame = tuple[str, int, str]
"""File, line, function."""


@dataclass(slots=True)
class GuardDetails:
    """Details of one `torch._guards.Guard`; those set when the guards are built are None or empty until then."""

    originating_source: Any
    guard_source: str
    arguments: Mapping[str, Any]
    """The arguments of its type, by position (`[0]`) or name: the attribute that must be absent, the value to equal."""
    guard_types: Sequence[str]
    guarded_object: tuple[Any, bool] | None
    """The object, and whether it is still alive."""
    guarded_class: type | None
    unserializable: str | None
    """Why it cannot be saved with the compiled code; None when it can."""
    forces_dict_keys_match: bool
    user_stack: Sequence[Frame]
    framework_stack: Sequence[Frame]
    """Dynamo's own frames, outermost first; empty unless torch is configured to keep them."""


def details(guard: Any) -> GuardDetails:
    """Read a `torch._guards.Guard` (2.0; `_unserializable` 2.7, `_force_dict_keys_match` 2.14)."""
    return GuardDetails(
        originating_source=guard.originating_source,
        guard_source=str(guard.source.name),
        arguments=_arguments(guard.create_fn),
        guard_types=list(guard.guard_types or ()),
        guarded_object=_referent(guard.obj_weakref),
        guarded_class=(_referent(guard.guarded_class_weakref) or (None,))[0],
        unserializable=_why_not_serializable(guard),
        forces_dict_keys_match=bool(getattr(guard, "_force_dict_keys_match", False)),
        user_stack=_frames(guard.user_stack or ()),
        framework_stack=_frames(guard.stack.summary()) if guard.stack is not None else (),
    )


def _arguments(create_fn: Any) -> dict[str, Any]:
    if type(create_fn) is not functools.partial:
        return {}
    arguments = {f"[{i}]": value for i, value in enumerate(create_fn.args)} | create_fn.keywords
    return {name: value() if type(value).__name__ == "TensorWeakRef" else value for name, value in arguments.items()}


def _referent(reference: Any) -> tuple[Any, bool] | None:
    if reference is None:
        return None
    if issubclass(type(reference), weakref.ReferenceType):
        found = weakref.ReferenceType.__call__(reference)
        return found, found is not None
    return reference, True


def _why_not_serializable(guard: Any) -> str | None:
    """Apply the rules and the list of types of `CheckFunctionManager.serialize_guards` (2.7)."""
    listed = sys.modules["torch._dynamo.guards"].CheckFunctionManager.UNSUPPORTED_SERIALIZATION_GUARD_TYPES
    kind = guard.create_fn_name()
    if kind in ("TYPE_MATCH", "BUILTIN_MATCH"):
        return "its type is local to a function" if getattr(guard, "_unserializable", None) else None
    found = next((each for each in (kind, *(guard.guard_types or ())) if each in listed), None)
    return f"torch cannot save a {found}" if found is not None else None


def _frames(stack: Any) -> list[Frame]:
    return [(str(frame.filename), int(frame.lineno or 0), str(frame.name)) for frame in stack]
