"""Where the time of compiles went: by function and line that Dynamo traced, and by phase of torch.

Times are seconds, without those in which a debugger stopped the thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

NO_PARENT = -1


class TracedFunction(Struct, array_like=True, gc=False):
    """A function at one place of the tree of calls: all its calls from one line, in all attempts."""

    parent: int
    """The number of its caller, or NO_PARENT."""
    function: str
    path: str
    line: int
    """The first of its code."""
    call_line: int
    """The caller's line; 0 for the compiled function."""
    seconds: float = 0.0
    """Dynamo's time for its lines, without its calls and without the backend."""
    count: int = 0
    """How often Dynamo entered it."""


class Phase(Struct, array_like=True, gc=False):
    """A phase that torch times itself, by its name in `torch._dynamo.utils.compile_times()`."""

    parent: int
    """The number of the phase that it is a part of, or NO_PARENT."""
    name: str
    began: float
    """Since the compile began."""
    seconds: float = 0.0


class Profile(Struct):
    """Where the time of a compile went, or of what torch compiled for it later: its backward, its kernels."""

    began: float
    """Unix time."""
    functions: list[TracedFunction]
    phases: list[Phase]
    left_out: int = 0
    """How many phases were not kept, because there were too many."""


ATTEMPT = "compile_attempt"
"""The row of all attempts; torch's phases of this name have the number of the attempt after it (2.6)."""
_TRACING = "bytecode_tracing"
"""torch's phase in which Dynamo traces (2.1): no row, because the functions that it traces are rows themselves, and the
line that returns from the outermost one finishes the graph after it.
"""


class Node(Struct):
    """A function that Dynamo traced, or a phase of torch; all at the same place of the tree are one."""

    name: str
    seconds: float = 0.0
    """Its time, with that of what is below it."""
    count: int = 0
    path: str = ""
    line: int = 0
    """The first line of the function; 0 for a phase."""
    call_line: int = 0
    """The line of the caller that calls the function; 0 for a phase."""
    children: list[Node] = field(default_factory=list)

    @property
    def own(self) -> float:
        """Return its time without that of what is below it."""
        return max(0.0, self.seconds - sum(child.seconds for child in self.children))

    @property
    def is_function(self) -> bool:
        return self.line > 0

    def walk(self) -> Iterator[Node]:
        """Yield it and all below it, callers first."""
        yield self
        for child in self.children:
            yield from child.walk()


def tree(profile: Profile) -> list[Node]:
    """Return the outermost phases; without any, the functions themselves."""
    roots: list[Node] = []
    phases: list[Node] = []
    for phase in profile.phases:
        siblings = roots if phase.parent == NO_PARENT else phases[phase.parent].children
        if phase.name == _TRACING and phase.parent != NO_PARENT:
            phases.append(phases[phase.parent])
            continue
        name = ATTEMPT if phase.name.startswith(ATTEMPT) else phase.name
        node = next((each for each in siblings if each.name == name), None)
        if node is None:
            node = Node(name)
            siblings.append(node)
        phases.append(node)
        node.seconds += phase.seconds
        node.count += 1
    functions = _functions(profile)
    attempt = next((node for root in roots for node in root.walk() if node.name == ATTEMPT), None)
    (roots if attempt is None else attempt.children)[:0] = functions
    return roots


def _functions(profile: Profile) -> list[Node]:
    nodes = [
        Node(each.function, each.seconds, each.count, each.path, each.line, each.call_line)
        for each in profile.functions
    ]
    roots: list[Node] = []
    for node, each in reversed(list(zip(nodes, profile.functions, strict=True))):  # a callee comes after its caller
        if each.parent == NO_PARENT:
            roots.insert(0, node)
        else:
            nodes[each.parent].children.insert(0, node)
            nodes[each.parent].seconds += node.seconds
    return roots


def seconds_of_calls(profile: Profile, path: str) -> dict[int, float]:
    """Return Dynamo's time for what each line of a file calls, with all that is below it.

    A line below itself counts once.
    """
    found: dict[int, float] = {}

    def add(node: Node, caller: str, lines: frozenset[int]) -> None:
        if caller == path and node.call_line not in lines:
            found[node.call_line] = found.get(node.call_line, 0.0) + node.seconds
            lines |= {node.call_line}
        for child in node.children:
            add(child, node.path, lines)

    for root in _functions(profile):
        for child in root.children:
            add(child, root.path, frozenset())
    return found


def seconds_of(phases: list[Phase], name: str) -> float:
    """Return the time of all phases of this name."""
    return sum(each.seconds for each in phases if each.name == name)


Key = tuple[str, str, int]
"""Path, name and first line of a function; "" and 0 for a phase."""


class Total(Struct):
    """The times of one function or phase wherever it is in the trees."""

    key: Key
    own: float = 0.0
    """Without what is below it."""
    seconds: float = 0.0
    """With what is below it; a function below itself counts once."""
    count: int = 0
    callers: dict[Key, tuple[float, float, int]] = {}
    """Own time, time with what is below and count, by what it is directly below."""

    @property
    def is_function(self) -> bool:
        return self.key[2] > 0


def totals(roots: Iterable[Node]) -> list[Total]:
    """Return the totals, the largest own time first."""
    found: dict[Key, Total] = {}
    for root in roots:
        _add(root, (), found)
    return sorted(found.values(), key=lambda each: each.own, reverse=True)


def _add(node: Node, above: tuple[Key, ...], found: dict[Key, Total]) -> None:
    key = key_of(node)
    total = found.setdefault(key, Total(key, callers={}))
    total.own += node.own
    total.count += node.count
    if key not in above:
        total.seconds += node.seconds
    if above:
        own, seconds, count = total.callers.get(above[-1], (0.0, 0.0, 0))
        total.callers[above[-1]] = own + node.own, seconds + node.seconds, count + node.count
    for child in node.children:
        _add(child, (*above, key), found)


def key_of(node: Node) -> Key:
    """Return what `Total.key` has for a node."""
    return node.path, node.name, node.line
