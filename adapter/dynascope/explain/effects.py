"""Say what comes of a graph break."""

from __future__ import annotations

from typing import Literal

from dynascope.facts.model import BreakEffect

Effect = BreakEffect | Literal["first chance"]
"""`first chance`: the break has been raised, and nothing has come of it yet."""
_EFFECTS: dict[Effect, str] = {
    "resumed": "{graph} ends here; what follows is traced on its own",
    # Dynamo compiles up to the last place at which its stack is empty, which may be lines above the break
    "rest uncompiled": "{graph} ends at the last place where it can; from there on the function runs uncompiled",
    "function uncompiled": "the whole function runs uncompiled",
    "raised": "raised as an error, as this compile may not break (fullgraph=True, error_on_graph_break or export)",
    "first chance": "it has just been raised: Dynamo may yet handle it",
}
_BEFORE_GRAPH: dict[Effect, str] = {
    "resumed": "no graph ends here, for no operation comes before it; what follows is traced on its own",
    "rest uncompiled": "no graph ends, for no operation comes before it; the rest of the function runs uncompiled",
}


def effect(known: Effect, is_before_graph: bool = False, graph: str = "a graph") -> str:
    """Return what comes of a break, to be read after its name.

    `is_before_graph`: no compile has a graph that ends there.
    """
    text = _BEFORE_GRAPH.get(known) if is_before_graph else None
    return text or _EFFECTS[known].format(graph=graph)


def sentence(known: Effect) -> str:
    """Return what comes of a break of the one compile that is spoken of."""
    return as_sentence(effect(known, graph="the graph"))


def as_sentence(text: str) -> str:
    """Return what comes of a break as a sentence of its own."""
    return f"It is {text}." if text.startswith("raised") else f"{text[0].upper()}{text[1:]}."


def in_same_loop(line: int) -> str:
    """Return what comes of another break in the loop of a break."""
    return (
        f"Line {line} breaks the graph in the same loop, which stays uncompiled while one does: mend both, or compile "
        "a function for one turn."
    )
