"""Name what AOTAutograd and Inductor make of a graph, and lead kernels and calls of output code to the program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.internals.graph.code import CodeLine, CodePlace, places_of
from dynascope.agent.internals.graph.saved_values import Division, saved_values
from dynascope.facts.generated.cache_keys import CACHE_KEY, MissedKeys, key_of

_MADE = {
    "joint": "forward and backward in one, by AOTAutograd",
    "forward": "as AOTAutograd divided the joint graph",
    "backward": "as AOTAutograd divided the joint graph",
    "inference": "by AOTAutograd; nothing here needs a gradient",
}
_POST_GRAD = "after the passes of Inductor, as it is lowered"
_OUTPUT_CODE = "by Inductor; the lines `# File: …` above kernels and calls are Dynascope's"
_CACHED = "from Inductor's cache, key {key}"
_CACHED_CODE = f"{_CACHED}, which does not tell what lines the kernels are from"
_NOT_MADE = (
    "# AOTAutograd found its result in its cache, key {key}: no graph was made by it here.",
    "# With TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 in the environment everything is made anew.",
)
_UNCACHED = "none: {} does not cache this graph"
_PLACE = re.compile(r" *# (?:Backward of forward node: )?File: (.+?):(\d+) in (.*?)(?:, code: (.*))?")
"""Torch 2.15 says which nodes are a backward's."""
_NO_PLACE = "# No stacktrace found"
_KERNEL = re.compile(r"^(\w+) = async_compile\.|^ +(?:\w+ = )?(\w+?)(?:\.run)?\(")
_BUFFER = re.compile(r"\bbuf\d+\b")
_END_OF_SOURCE = "'''"
_NO_CALL = re.compile(
    r" *(#|del |return\b|assert_|with |\w+ = (empty_strided|alloc_from_pool|reinterpret_tensor))|.*# reuse"
)

IsUsers = Callable[[str], bool]


class Kernels(NamedTuple):
    """The lines of the user that Inductor's output code comes from, as stacks."""

    fused: dict[str, list[list[str]]]
    """The stacks of each call of a kernel that Inductor wrote, in the order of the calls, by the kernel's name."""
    buffers: dict[str, list[str]]
    """The stacks of a buffer (`buf0`), for calls of ready-made kernels."""


class NamedForms:
    """Tell each form with its name and what made it, on the thread that compiles or runs a backward."""

    def __init__(
        self,
        is_users: IsUsers,
        graph: Callable[[str, str, Any], None],
        text: Callable[[str, str, Iterable[CodeLine]], None],
    ) -> None:
        """Call `graph` for each form that is a `torch.fx.GraphModule`, and `text` for any other."""
        self._is_users = is_users
        self._graph = graph
        self._text = text
        self._missed = MissedKeys()

    def graph_made(self, form: str, module: Any) -> None:
        """Take a graph of AOTAutograd: `joint`, `forward`, `backward` or `inference`."""
        self._graph(f"{form} graph", _MADE[form], module)

    def divided(self, division: Division) -> None:
        """Take what the backward uses of the forward, after their graphs."""
        self._text("saved values", *saved_values(division, self._is_users))

    def code_made(self, code: str, kernels: Kernels, module: Any, is_backward: bool) -> None:
        """Take Inductor's output code and the post-grad graph it is from."""
        prefix = "backward " if is_backward else ""
        self._graph(f"{prefix}post-grad graph", _POST_GRAD, module)
        self._text(f"{prefix}output code", _OUTPUT_CODE, placed_code(code, kernels, self._is_users))

    def code_cached(self, code: str, post_grad: str, key: str, is_backward: bool) -> None:
        """Take the same, where Inductor has found it in its cache."""
        prefix = "backward " if is_backward else ""
        self._text(f"{prefix}post-grad graph", _CACHED.format(key=key), _as_printed(post_grad))
        self._text(f"{prefix}output code", _CACHED_CODE.format(key=key), map(CodeLine, code.split("\n")))

    def code_missed(self, components: list[str], is_backward: bool) -> None:
        """Take what the key is made of, where Inductor's cache has nothing for it."""
        heading, lines = self._missed.told(key_of(components), compile_id_and_attempt()[0], is_backward)
        self._text(f"{'backward ' if is_backward else ''}{CACHE_KEY}", heading, map(CodeLine, lines))

    def code_not_cached(self, reason: str, is_backward: bool) -> None:
        self._text(f"{'backward ' if is_backward else ''}{CACHE_KEY}", _UNCACHED.format("Inductor"), _reason(reason))

    def graphs_not_cached(self, reason: str) -> None:
        self._text(f"AOTAutograd {CACHE_KEY}", _UNCACHED.format("AOTAutograd"), _reason(reason))

    def graphs_cached(self, key: str, has_backward: bool) -> None:
        """Take the key of what AOTAutograd has found in its cache."""
        lines = (CodeLine(line.format(key=key)) for line in _NOT_MADE)
        self._text("joint graph" if has_backward else "inference graph", "not made", lines)


def _reason(reason: str) -> Iterator[CodeLine]:
    return (CodeLine(f"# {line}".rstrip()) for line in reason.splitlines())


def _as_printed(text: str) -> Iterator[CodeLine]:
    """Yield the lines of `GraphModule.print_readable`, with the places in its comments."""
    places: tuple[CodePlace, ...] = ()
    for line in text.split("\n"):
        found = _PLACE.fullmatch(line)
        if found is not None:
            places = (CodePlace(found[1], int(found[2]), found[3], found[4] or ""),)
        elif _NO_PLACE in line or line.lstrip().startswith(("class ", "def ", "return")):
            places = ()
        yield CodeLine(line, places if line else ())


def placed_code(code: str, kernels: Kernels, is_users: IsUsers) -> Iterator[CodeLine]:
    """Yield output code, with comments above kernels and calls that say what they are from."""
    calls = {name: iter(stacks) for name, stacks in kernels.fused.items()}
    buffers = dict(kernels.buffers)
    runs = is_source = False
    places: tuple[CodePlace, ...] = ()
    for line in code.split("\n"):
        if is_source:
            is_source = not line.startswith(_END_OF_SOURCE)
            yield CodeLine(line, places)
            continue
        runs = runs or line.startswith("async_compile.wait(")
        found = _KERNEL.match(line)
        name = (found[1] or found[2]) if found is not None else ""
        called = [] if not runs or _NO_CALL.match(line) else _BUFFER.findall(line)
        made = [stack for each in called for stack in buffers.pop(each, ())]
        each_call = kernels.fused.get(name)
        if each_call is not None:
            made = next(calls[name], each_call[-1]) if runs else [stack for stacks in each_call for stack in stacks]
        places = tuple(dict.fromkeys(place for stack in made for place in places_of(stack, is_users)))
        indent = line[: len(line) - len(line.lstrip())]
        yield from (CodeLine(f"{indent}# {place}", places) for place in places)
        yield CodeLine(line, places)
        is_source = not runs and each_call is not None and _END_OF_SOURCE in line
