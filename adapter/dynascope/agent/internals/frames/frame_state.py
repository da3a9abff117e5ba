"""Read the state of a frame under trace: locals, cells, stack and globals (`InstructionTranslatorBase`, 2.0)."""

from __future__ import annotations

import dis
import types
from typing import Any

from dynascope.agent.internals.frames.resume import is_resume_function, original_code
from dynascope.agent.internals.frames.translators import code_of, globals_of
from dynascope.agent.internals.variables.variables import SideEffects
from dynascope.agent.internals.weak_keys import WeakKeys

_LOCAL_CHANGE = frozenset({"STORE_FAST", "DELETE_FAST"})
_names_by_code: WeakKeys[types.CodeType, dict[frozenset[str], list[str]]] = WeakKeys()
PRUNED = "dynascope_pruned"
"""The key in a frame's `__dict__`, at a stop where its graph has ended, of the locals that Dynamo has dropped."""
_GLOBAL_ACCESS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "STORE_NAME", "DELETE_GLOBAL"})


def symbolic_locals(translator: Any) -> dict[str, Any]:
    """Return variables by name, arguments first (`symbolic_locals`, 2.0; cells: `CellVariable`).

    Cells also come from `symbolic_cellvars` (2.15): a comprehension may have taken their place. Names that Dynamo made
    for a resume function (`___stack0` …) are left out.
    """
    code = code_of(translator)
    known: dict[str, Any] = dict(translator.__dict__.get("symbolic_cellvars") or {})
    known |= translator.__dict__.get(PRUNED, {}) | translator.symbolic_locals
    written = original_code(code)
    if is_resume_function(code):
        own = own_names(written)
        known = {name: variable for name, variable in known.items() if name in own}
    order = {name: i for i, name in enumerate(written.co_varnames)}
    return dict(sorted(known.items(), key=lambda item: order.get(item[0], len(order))))


def own_names(code: types.CodeType) -> frozenset[str]:
    """Return the names of a function's locals and closure."""
    return frozenset((*code.co_varnames, *code.co_cellvars, *code.co_freevars))


def unused_arguments(translator: Any) -> dict[str, Any]:
    """Return the real values of a root frame's unread arguments, untracked since 2.14."""
    code = code_of(translator)
    if is_resume_function(code):
        return {}
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    real: dict[str, Any] = translator.__dict__.get("f_locals") or {}
    tracked = translator.symbolic_locals
    absent = [name for name in code.co_varnames[:count] if name in real and name not in tracked]
    if not absent or translator.__dict__.get("parent") is not None:
        return {}
    written = _names_used(code, _LOCAL_CHANGE)
    return {name: real[name] for name in absent if name not in written}


def free_names(translator: Any) -> tuple[str, ...]:
    """Return the names that come from enclosing functions."""
    return original_code(code_of(translator)).co_freevars


def value_stack(translator: Any) -> list[Any]:
    """Return the operands of the next instructions, deepest first (`stack`, 2.0)."""
    return list(translator.stack)


def named_globals(translator: Any) -> list[str]:
    """Return globals the code names (or assigned: `symbolic_globals`, 2.0), without builtins."""
    code = original_code(code_of(translator))
    present, pending = globals_of(translator), translator.symbolic_globals
    return [name for name in _names_used(code, _GLOBAL_ACCESS) if name in present or name in pending]


def pending_global(translator: Any, name: str, effects: SideEffects) -> Any | None:
    """Return the variable of a STORE_GLOBAL (`symbolic_globals`, `SideEffects`, 2.0), or None."""
    if name not in translator.symbolic_globals:
        return None
    holder = effects.variable_for(translator.symbolic_globals[name])
    return None if holder is None else effects.pending_attributes(holder).get(name)


def source_of_global(translator: Any, name: str) -> str:
    """Return the source Dynamo gives this global when it reads it (`GlobalSource`, 2.0).

    In a call inlined from another module, it is based on the module (`InstructionTranslatorBase.import_source`, 2.0).
    """
    module = globals_of(translator).get("__name__")
    if globals_of(translator) is translator.output.global_scope or not isinstance(module, str):
        return f"G[{name!r}]"
    return f"G['__import_{module.replace('.', '_dot_')}'].{name}"


def _names_used(code: types.CodeType, opnames: frozenset[str]) -> list[str]:
    """Return the names that the instructions in `opnames` take, in the order of the code.

    The opcodes are searched in the bytes: `dis` takes 0.1 s for ten thousand lines.
    """
    known = _names_by_code.get(code)
    if known is None:
        known = _names_by_code.put(code, {})
    if opnames not in known:
        raw = code.co_code
        opcodes = raw[::2]
        found: list[tuple[int, str]] = []
        for opname in opnames & dis.opmap.keys():
            opcode, at = dis.opmap[opname], -1
            while (at := opcodes.find(opcode, at + 1)) >= 0:
                found.append((at, _name_at(code, opcode, _argument_at(raw, opcodes, at))))
        known[opnames] = list(dict.fromkeys(name for _, name in sorted(found)))
    return known[opnames]


def _argument_at(raw: bytes, opcodes: bytes, at: int) -> int:
    """Return the argument of the instruction at code unit `at`, with its `EXTENDED_ARG`s."""
    argument, shift = raw[2 * at + 1], 0
    while at and opcodes[at - 1] == dis.EXTENDED_ARG:
        at, shift = at - 1, shift + 8
        argument |= raw[2 * at + 1] << shift
    return argument


def _name_at(code: types.CodeType, opcode: int, argument: int) -> str:
    if opcode in dis.haslocal:
        return code.co_varnames[argument]
    return code.co_names[argument >> 1 if opcode == dis.opmap["LOAD_GLOBAL"] else argument]


def inline_depth(translator: Any) -> int:
    """Return the number of inlined calls around it (`inline_depth`, 2.0); 0 for the root frame."""
    return int(translator.inline_depth)
