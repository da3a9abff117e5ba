"""The names of graph nodes in function breakpoints, with `*` and `?` as in a shell:

* an operator: `torch.ops.aten.mm`, `aten.mm`, `aten.mm.default`, `mylib.*`
* a Python function: `torch.add`, `torch.nn.functional.relu`, `F.relu`, `operator.add`
* a bare name of a function or method: `add`, `view`; it also stops in functions of that name
* a kind of node, with or without a name after it: `call_module`, `call_method view`, `placeholder`
"""

from __future__ import annotations

import fnmatch
import re
import sys
from collections.abc import Sequence
from typing import Any

from dynascope.agent.breakpoints.hits import AgentBreakpoint

OPS = ("call_function", "call_method", "call_module", "get_attr", "placeholder", "output")
"""Kinds of nodes (`torch.fx.Node.op`)."""

_OF_NODES = re.compile(rf"({'|'.join(OPS)})(\s+(?P<target>\S+))?|(torch|aten|prims|operator|_operator|math|F)\.\S+")
_OF_OPERATOR = re.compile(r"(?:torch\.ops\.)?(?P<name>(?P<namespace>[a-z_]\w*)\.[\w.*?]+)")

_NODE = "Stops where a node that calls it enters a graph of Dynamo's, or the graph of a captured backward."
_KIND = "Stops where a node of this kind enters a graph of Dynamo's."
_ATEN = (
    " Dynamo's own graph calls torch functions (torch.mm, not aten.mm): aten operators are in it only where the program"
    " calls torch.ops, and in captured backwards; those that AOTAutograd makes of torch functions never stop here."
)
_BOTH = "Stops in functions of this name, and where a node that calls {0} enters a graph of Dynamo's."
_MISSING = "No operator {0} is registered yet. " + _NODE


class NodeTable:
    """An immutable table of the function breakpoints that may name a node."""

    def __init__(self, named: Sequence[tuple[str, AgentBreakpoint]] = ()) -> None:
        self._named = [(_spelled(name), breakpoint) for name, breakpoint in named if may_name_node(name)]
        self.is_empty = not self._named

    def at(self, op: str, names: Sequence[str]) -> list[AgentBreakpoint]:
        """Return breakpoints of a node with this `op`; `names` are its target's, fullest first."""
        return [breakpoint for pattern, breakpoint in self._named if _matches(pattern, op, names)]


def may_name_node(name: str) -> bool:
    """Whether a function breakpoint may name nodes; torch, once imported, checks a bare name."""
    name = name.strip()
    if names_only_nodes(name):
        return True
    if "<" in name or not name.strip("*?."):
        return False
    if "." in name:
        return _OF_OPERATOR.fullmatch(name) is not None  # the library may be registered later
    internals = sys.modules.get("torch._dynamo") and _internals()
    return not internals or bool(set(name) & set("*?[")) or internals.is_torch_name(name)


def names_only_nodes(name: str) -> bool:
    """Whether the name cannot mean a Python function."""
    return _OF_NODES.fullmatch(name.strip()) is not None


def message_about(name: str) -> str | None:
    """Return the message for a function breakpoint that names nodes; None when it names none."""
    name = _spelled(name.strip())
    if not may_name_node(name):
        return None
    if name.split()[0] in OPS:
        return _KIND
    torch_is_there = sys.modules.get("torch._dynamo") is not None
    match = _OF_OPERATOR.fullmatch(name)
    if match is not None and (name.startswith("torch.ops.") or _is_namespace(match["namespace"])):
        text = _NODE
        if torch_is_there and not set(name) & set("*?[") and not _internals().operator_exists(match["name"]):
            text = _MISSING.format(name)
        return text + (_ATEN if match["namespace"] in ("aten", "prims") else "")
    if names_only_nodes(name):
        return _NODE
    return _BOTH.format(name) if torch_is_there and "." not in name else None


def _matches(pattern: str, op: str, names: Sequence[str]) -> bool:
    kind, _, target = pattern.partition(" ")
    if kind in OPS:
        return kind == op and (not target or _names(target.strip(), names))
    return op in ("call_function", "call_method", "call_module") and _names(pattern, names)


def _names(pattern: str, names: Sequence[str]) -> bool:
    if "." not in pattern:
        return any(fnmatch.fnmatchcase(name, pattern) for name in names if "." not in name)
    return any(fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, f"*.{pattern}") for name in names)


def _spelled(name: str) -> str:
    """Replace the customary `F.` by `torch.nn.functional.`; put one blank before a target."""
    name = " ".join(name.split())
    return f"torch.nn.functional.{name[2:]}" if name.startswith("F.") else name.replace("_operator.", "operator.")


def _is_namespace(word: str) -> bool:
    """Whether operators are registered under `word::`."""
    if word in ("aten", "prims"):
        return True
    torch: Any = sys.modules.get("torch")
    if torch is None or word in ("torch", "operator", "math"):
        return False
    return any(name.startswith(f"{word}::") for name in torch._C._dispatch_get_all_op_names())


def _internals() -> Any:
    from dynascope.agent.internals.graph import graph as node_events

    return node_events
