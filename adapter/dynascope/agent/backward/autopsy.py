"""Why a backward was captured although others had been: torch's reason, and what the nearest earlier capture had
there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dynascope.agent.backward.captures import Capture, node_text

UNEXPLAINED = "torch did not say why: an earlier capture failed, or was made before anybody observed"
_NEW_NODE = re.compile(r"new autograd node: (?P<name>\S+) \(NodeCall (?P<index>\d+)\)")
_CHANGED_SIZES = re.compile(r"(?P<changed>\d+) changed tensor shapes \(total of \d+\)")
_ACCUMULATE = "torch::autograd::AccumulateGrad"


def explain(capture: Capture, earlier: Iterable[Capture]) -> tuple[str, ...]:
    """Torch's reasons, each followed by what was found out about it; `earlier` captures, oldest first."""
    if not capture.reasons:
        return (UNEXPLAINED,)
    found = []
    for reason in capture.reasons:
        found.append(reason)
        if node := _NEW_NODE.search(reason):
            found.append(_about_node(capture, int(node["index"]), node["name"], list(earlier)))
        elif sizes := _CHANGED_SIZES.search(reason):
            found.append(_about_sizes(capture, int(sizes["changed"])))
    return tuple(found)


def _about_node(capture: Capture, index: int, name: str, earlier: list[Capture]) -> str:
    """The reason names the first node that the cache did not know behind the ones before it."""
    if index == 0:
        return "the first of its kind: no backward in the cache begins with the same number of gradients"
    before = [call.name for call in capture.node_calls[:index]]
    alike = [each for each in earlier if [call.name for call in each.node_calls[:index]] == before]
    there = [each for each in alike if len(each.node_calls) > index]
    same = next((each for each in reversed(there) if each.node_calls[index].name == name), None)
    if same is not None:
        why = "its `.grad` was there in one and not in the other, " if name == _ACCUMULATE else ""
        return (
            f"{same.compile_id} has the same node there, but with other constants: {why}hooks, dtype, device, or an "
            "argument that is neither a tensor nor a size"
        )
    if there:
        other = there[-1]
        return f"like {other.compile_id} up to there, which goes on with {other.node_calls[index].name}"
    return "no backward in the cache begins like this one"


def _about_sizes(capture: Capture, changed: int) -> str:
    """The sizes of a capture are those that are dynamic: the changed ones have just become so."""
    nodes = dict.fromkeys(node_text(capture.names.get(index), index) for index in capture.size_origins)
    return f"{changed} sizes became dynamic; now dynamic are sizes of {', '.join(nodes)}"
