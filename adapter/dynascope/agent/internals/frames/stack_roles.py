"""Name the role of each slot of the value stack by the instruction that will take it.

The bytecode is followed forward from the current instruction, past jumps, until every slot is taken. An unknown
instruction ends the search: a slot without a role is better than one with the wrong role.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Sequence
from typing import Any

from dynascope.agent.internals.frames.translators import active_translators, current_index
from dynascope.agent.internals.variables.variables import class_names

_LIMIT = 2_000
"""The most instructions that are followed."""

_TAKES: dict[str, tuple[str, ...]] = {
    "BINARY_OP": ("right operand", "left operand"),
    "COMPARE_OP": ("right operand", "left operand"),
    "IS_OP": ("right operand", "left operand"),
    "CONTAINS_OP": ("container", "member"),
    "BINARY_SUBSCR": ("key", "container"),
    "STORE_SUBSCR": ("key", "container", "value for an item"),
    "DELETE_SUBSCR": ("key", "container"),
    "BINARY_SLICE": ("stop", "start", "container"),
    "STORE_SLICE": ("stop", "start", "container", "value for a slice"),
    "UNARY_NEGATIVE": ("operand",),
    "UNARY_POSITIVE": ("operand",),
    "UNARY_NOT": ("operand",),
    "UNARY_INVERT": ("operand",),
    "TO_BOOL": ("condition",),
    "CALL_INTRINSIC_1": ("operand",),
    "FORMAT_VALUE": ("formatted value",),
    "CONVERT_VALUE": ("formatted value",),
    "FORMAT_SIMPLE": ("formatted value",),
    "FORMAT_WITH_SPEC": ("format", "formatted value"),
    "SET_FUNCTION_ATTRIBUTE": ("function", "function attribute"),
    "GET_ITER": ("iterable",),
    "GET_YIELD_FROM_ITER": ("iterable",),
    "UNPACK_SEQUENCE": ("sequence",),
    "BEFORE_WITH": ("context manager",),
    "YIELD_VALUE": ("yielded value",),
    "POP_TOP": ("unused result",),
    "RETURN_VALUE": ("return value",),
    "LIST_APPEND": ("item",),
    "SET_ADD": ("item",),
    "MAP_ADD": ("value", "key"),
    "LIST_EXTEND": ("items",),
    "SET_UPDATE": ("items",),
    "DICT_UPDATE": ("items",),
    "DICT_MERGE": ("items",),
    "IMPORT_NAME": ("names", "level"),
    "STORE_FAST": ("value for {}",),
    "STORE_NAME": ("value for {}",),
    "STORE_GLOBAL": ("value for {}",),
    "STORE_DEREF": ("value for {}",),
    "STORE_ATTR": ("owner of .{}", "value for .{}"),
    "LOAD_ATTR": ("owner of .{}",),
    "LOAD_METHOD": ("owner of .{}",),
    "DELETE_ATTR": ("owner of .{}",),
}
_TAKES_NOTHING = frozenset(
    {"NOP", "CACHE", "RESUME", "PRECALL", "KW_NAMES", "EXTENDED_ARG", "COPY_FREE_VARS", "MAKE_CELL"}
)
_ENDS = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})


def stack_roles(translator: Any) -> list[str | None]:
    """Return a role or None per slot of `InstructionTranslatorBase.stack` (2.0), deepest first."""
    stack, instructions = list(translator.stack), translator.instructions
    roles: list[str | None] = [_role_by_kind(variable) for variable in stack]
    slots: list[int | None] = list(range(len(stack)))
    at = current_index(translator)
    if active_translators(translator)[-1] is not translator:
        slots.append(None)  # the result of the call that this frame waits for
        at += 1
    if 0 <= at < len(instructions):
        _Follower(instructions, at, slots, roles).follow()
    return roles


def _role_by_kind(variable: object) -> str | None:
    kind = class_names(variable)[0]
    return {"NullVariable": "NULL", "WithExitFunctionVariable": "with exit"}.get(kind)


class _Follower:
    """Follow the instructions from the current one, and name each slot by the first that takes it."""

    def __init__(self, instructions: Sequence[Any], at: int, slots: list[int | None], roles: list[str | None]) -> None:
        self._instructions = instructions
        self._at = at
        self._slots = slots
        """By depth on the stack: the slot to name, None for a value pushed since."""
        self._roles = roles
        self._index = {id(instruction): i for i, instruction in enumerate(instructions)}
        self._loops: set[int] = set()
        self._keywords: tuple[str, ...] = ()

    def follow(self) -> None:
        """Follow instructions until every slot is taken, the function ends, or one is unknown."""
        for _ in range(_LIMIT):
            if self._at >= len(self._instructions) or not any(slot is not None for slot in self._slots):
                return
            instruction = self._instructions[self._at]
            name = instruction.opname
            if name == "FOR_ITER" and instruction.target is not None:
                if not self._iterate(instruction):
                    return
                continue
            if not (self._rearrange(instruction) if name in ("SWAP", "COPY") else self._run(instruction)):
                return
            if name in _ENDS:
                return
            jumps = name.startswith("JUMP") and "IF" not in name and instruction.target is not None
            self._at = self._index[id(instruction.target)] if jumps else self._at + 1

    def _iterate(self, instruction: Any) -> bool:
        """Follow a loop's body once, then what follows the loop."""
        if not self._slots:
            return False
        iterator = self._take(["iterator"])
        if self._at in self._loops:
            self._at = self._index[id(instruction.target)]
            self._at += self._instructions[self._at].opname == "END_FOR"
            self._at += sys.version_info >= (3, 13) and self._instructions[self._at].opname == "POP_TOP"
        else:
            self._loops.add(self._at)
            self._slots += [iterator, None]
            self._at += 1
        return True

    def _rearrange(self, instruction: Any) -> bool:
        depth, slots = instruction.arg or 0, self._slots
        if not 1 <= depth <= len(slots):
            return False
        if instruction.opname == "COPY":
            slots.append(None)
        else:
            slots[-1], slots[-depth] = slots[-depth], slots[-1]
        return True

    def _run(self, instruction: Any) -> bool:
        name, argument = instruction.opname, instruction.arg or 0
        names = instruction
        if name == "CALL_KW":  # 3.13: the instruction before it loads the names
            names = self._instructions[self._at - 1]
        if name in ("KW_NAMES", "CALL_KW"):
            self._keywords = names.argval if isinstance(names.argval, tuple) else ()
        roles = _taken(instruction, argument, self._keywords)
        if roles is None or len(roles) > len(self._slots):
            return False
        self._take(roles)
        self._slots += [None] * _pushed(instruction, argument, len(roles))
        if name in ("CALL", "CALL_KW"):
            self._keywords = ()
        return True

    def _take(self, roles: Sequence[str]) -> int | None:
        """Take slots from the top, each in its role; return the last one taken."""
        slot = None
        for role in roles:
            slot = self._slots.pop()
            if slot is not None and self._roles[slot] is None:
                self._roles[slot] = role
        return slot


def _taken(each: Any, argument: int, keywords: tuple[str, ...]) -> list[str] | None:
    """Return the roles an instruction takes from the stack, top first; None for an unknown one."""
    name = each.opname
    if name in _TAKES:
        return [role.format(each.argval) for role in _TAKES[name]]
    if name in _TAKES_NOTHING or name == "PUSH_NULL" or name.startswith(("LOAD_", "JUMP_FORWARD", "JUMP_BACKWARD")):
        return None if name in ("LOAD_SUPER_ATTR", "LOAD_BUILD_CLASS") else []
    if name in ("CALL", "CALL_KW"):
        positional = argument - len(keywords)
        arguments = [f"arg {i + 1}" for i in range(positional)] + [f"arg {keyword}=" for keyword in keywords]
        return [*(["keyword names"] if name == "CALL_KW" else []), *reversed(arguments), "callee", "callee"]
    if name == "CALL_FUNCTION_EX":
        callee = ["NULL", "callee"] if sys.version_info >= (3, 13) else ["callee", "NULL"]
        return [*(["keyword arguments"] if argument & 1 else []), "arguments", *callee]
    if name in ("BUILD_LIST", "BUILD_TUPLE", "BUILD_SET", "BUILD_STRING", "BUILD_SLICE"):
        return [f"item {i}" for i in range(argument, 0, -1)]
    if name == "BUILD_MAP":
        return [part for i in range(argument, 0, -1) for part in (f"value {i}", f"key {i}")]
    if name == "BUILD_CONST_KEY_MAP":
        return ["keys", *(f"value {i}" for i in range(argument, 0, -1))]
    if name == "MAKE_FUNCTION":
        parts = ("defaults", "keyword defaults", "annotations", "closure")
        return ["code", *(part for i, part in reversed(list(enumerate(parts))) if argument & (1 << i))]
    if "JUMP" in name and "_IF_" in name:  # also POP_JUMP_FORWARD_IF_FALSE of 3.11
        return ["condition"]
    return [] if name.startswith(("JUMP", "DELETE_FAST", "DELETE_NAME", "DELETE_GLOBAL", "END_")) else None


def _pushed(each: Any, argument: int, taken: int) -> int:
    name = each.opname
    if name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
        return 1
    if name in _TAKES_NOTHING:
        return 0
    has_argument = each.opcode >= dis.HAVE_ARGUMENT
    return max(0, taken + dis.stack_effect(each.opcode, argument if has_argument else None, jump=False))
