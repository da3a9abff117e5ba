"""What was generated in one compile, as data: bounded when it is written, compressed in the store."""

from __future__ import annotations

import functools
import re

from msgspec import Struct

from dynascope.facts.user_stack import UserFrame


class EvaluatedGuard(Struct, array_like=True, gc=False):
    """A line of torch's tree of guards: a guard manager, which finds a value, or a guard on that value."""

    depth: int
    text: str
    is_guard: bool
    in_python: bool
    """Whether it calls Python."""
    own: float | None
    """The nanoseconds that it takes itself; None for what is counted with its manager."""
    total: float | None
    """The nanoseconds with all that is below it."""


class FilteredGuards(Struct):
    """The guards that a filter of guards, or a stance, would leave."""

    name: str
    guards: int
    """How many would be left."""
    lookup: float | None
    """The nanoseconds that a lookup would take."""
    could_change: list[str]
    """The changes that would then cause no recompile, as sentences."""


class RefusedGuards(Struct):
    """Guards that torch refuses to save for one reason."""

    guards: list[str]
    reason: str
    hint: str


class SavedGuards(Struct):
    """The guards that torch would save with the compiled code."""

    way: str
    """`aot_compile` or `caching_precompile`."""
    outcome: str
    refused: list[RefusedGuards]
    without_refused: str | None
    """The outcome for the other guards, if a filter drops the guards that are refused."""
    dropped: list[str]
    """The changes that would then go unnoticed, as sentences."""


class GuardCosts(Struct):
    """The guards of a compile, measured for the call for which it was compiled."""

    lookup: float | None
    """The nanoseconds of a lookup; None where a guard does not hold for that call, as `text` tells."""
    guards: list[EvaluatedGuard]
    filters: list[FilteredGuards]
    saved: list[SavedGuards]
    text: str
    """The answers to `guards 0/1 all`, `guards filters 0/1` and `guards saved 0/1`."""


def duration(time: float | None) -> str:
    """Return nanoseconds as text: `338 ns`, `1.5 µs`; "" for None."""
    if time is None:
        return ""
    return f"{time:.0f} ns" if time < 1_000 else f"{time / 1_000:.1f} µs"


NODES_KEPT = 20_000
"""The most nodes of a compile that are kept, over all its graphs."""
TEXT_KEPT = 1_000
"""The most characters of a node's statement, and of its value's text."""
CODE_KEPT = 1 << 20
"""The most characters of a compile's bytecode, and of a text of Inductor's."""
FORMS_KEPT = 100
"""The most later forms of a compile that are kept."""
FORM = "form "
"""What the kind of a later form begins with in the store; then its number, `graph` or `text`, and its name."""
NO_STACK = -1


class GraphNode(Struct, array_like=True, gc=False):
    """A node of an FX graph."""

    name: str
    op: str
    """FX's: `placeholder`, `get_attr`, `call_function`, `call_method`, `call_module`, `output`."""
    target: str
    """What it calls: `torch.nn.functional.linear`; an input's own name."""
    text: str
    """The statement: `mul = linear * 2`; "" for an input."""
    value: str
    """The text of what it computes: `f32[s77, 16]`."""
    inputs: list[int]
    """The numbers of the nodes among its arguments."""
    stack: int
    """The number of its stack in `Graph.stacks`, or NO_STACK."""
    module: str = ""
    """The module that does it, as `named_modules` names it: `layers.0.mlp.gate_proj`."""
    source: str = ""
    """What the program calls an input: `x`, `layers.0.mlp.gate_proj.weight`."""


class Graph(Struct):
    """A graph as Dynamo passed it to the backend, or one that an operator in it calls."""

    name: str
    """`forward`; the branch of a `torch.cond` has its attribute's name: `cond_true_0`."""
    nodes: list[GraphNode]
    stacks: list[list[UserFrame]]
    """For each place in the program, its line and the lines that call it, the innermost first.

    A library's line comes before them where the operation is in a model of that library, and stands alone where no line
    of the program leads to the operation.
    """
    left_out: int = 0
    """How many nodes were not kept, because the compile has too many."""

    def place_of(self, node: GraphNode) -> UserFrame | None:
        """Return the innermost line of a node; None for one without."""
        return self.stacks[node.stack][0] if node.stack != NO_STACK else None


class Bytecode(Struct):
    """The code that runs in the place of the compiled function, disassembled."""

    text: str
    left_out: int = 0
    """How many characters were not kept."""


class LaterForm(Struct):
    """What AOTAutograd or Inductor made of the graph of a compile."""

    name: str
    """`joint graph`, `backward output code`."""
    heading: str
    """What made it: `as AOTAutograd divided the joint graph`."""
    graphs: list[Graph] = []
    """The graph and those of its operators; [] for code, and for a graph that a cache has as text."""
    text: str = ""
    left_out: int = 0
    """How many characters of the text were not kept."""


def bounded(text: str, most: int | None = None) -> str:
    """Return a text of at most so many characters, `TEXT_KEPT`; one that is cut ends with `…`."""
    most = TEXT_KEPT if most is None else most
    return text if len(text) <= most else f"{text[: most - 1]}…"


_MEMBER = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]")
_OWN = re.compile(r"^[LG]\['self'\]\.(?=[A-Za-z_])")
_ROOT = re.compile(r"\b[LG]\['(\w+)'\]")


@functools.lru_cache(4096)
def users_name(expression: str) -> str:
    """Return the program's name for an expression of Dynamo's.

    `L['self']._modules['layers']._modules['0']._parameters['weight']` is `layers.0.weight`. What is not in the compiled
    function's own `self` keeps its first name: `model.layers.0.weight`.
    """
    return _ROOT.sub(r"\1", _OWN.sub("", _MEMBER.sub(r".\1", expression)))
