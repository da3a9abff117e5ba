"""Why a backward was captured again: torch's reason, and the nearest earlier capture.

torch names the first node that its cache does not have, but not what is new in the node. That is found by comparing
with the captures that have the same nodes before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from dynascope.agent.backward.captures.captures import Capture, node_text
from dynascope.agent.internals.autograd.cache_keys import Facts, NodeKey

UNEXPLAINED = "torch did not say why: an earlier capture failed, or was not observed"
FIRST = "the first of its kind: no backward in the cache begins like this one"
_NEW_NODE = re.compile(
    r"new autograd node: .+ \(NodeCall (?P<index>\d+)\)"
    r"(?: with key size \d+, previous key sizes=\[(?P<alike>[^\]]*)\])?"
)
_CHANGED_SIZES = re.compile(r"(?P<changed>\d+) changed tensor shapes \(total of \d+\)")
_NO_KEY = NodeKey("")


def explain(capture: Capture, earlier: Iterable[Capture]) -> tuple[str, ...]:
    """Return torch's reasons, each with details found by comparing to `earlier`, oldest first."""
    captures = list(earlier)
    if not capture.reasons:
        return (UNEXPLAINED, *_guess(capture, captures))
    reasons = []
    for reason in capture.reasons:
        reasons.append(reason)
        if node := _NEW_NODE.search(reason):
            has_alike = node["alike"] is None or re.search(r"\d", node["alike"]) is not None
            reasons.append(_about_node(capture, int(node["index"]), captures, has_alike))
        elif sizes := _CHANGED_SIZES.search(reason):
            reasons.append(_about_sizes(capture, int(sizes["changed"])))
    return tuple(reasons)


def _guess(capture: Capture, earlier: Sequence[Capture]) -> tuple[str, ...]:
    """Return where the capture differs from its most similar one, without a reason of torch."""
    if not earlier:
        return ()
    common = max(_in_common(capture, each) for each in earlier)
    names = _names(capture)
    if common < len(names):
        return (f"new is {names[common]} (NodeCall {common}): {_about_node(capture, common, earlier, True)}",)
    like = next(each for each in reversed(earlier) if _in_common(capture, each) == common)
    if like.failed:
        return (f"the nodes are those of {like.compile_id}, whose capture failed",)
    for index, name in enumerate(names):
        if numbers := _possible_differences(capture, like, index):
            return (f"{name} (NodeCall {index}) is not that of {like.compile_id}, but {'; '.join(numbers)}",)
    return (f"the nodes are those of {like.compile_id}, as far as Python can see them: a size may have changed",)


def _about_node(capture: Capture, index: int, earlier: Sequence[Capture], has_alike: bool) -> str:
    """Return details on the first node that, after the previous nodes, was not in the cache.

    `has_alike`: whether the cache had a node of the same type there.
    """
    names = _names(capture)
    like = [each for each in earlier if _in_common(capture, each) >= index]
    there = [(each, _names(each)[index]) for each in like if len(_names(each)) > index]
    same = [each for each, name in there if [name] == names[index : index + 1]] if has_alike else []
    if same:
        return _nearest(capture, index, same)
    others = [(each, name) for each, name in there if [name] != names[index : index + 1]]
    if others:
        return f"like {others[-1][0].compile_id} up to there, which continues with {others[-1][1]}"
    if index and like:
        return f"like {like[-1].compile_id}, which ends there"
    return FIRST


def _in_common(capture: Capture, other: Capture) -> int:
    names, others = _names(capture), _names(other)
    for index, (one, two) in enumerate(zip(names, others, strict=False)):
        if one != two or _certain_differences(capture, other, index):
            return index
    return min(len(names), len(others))


def _names(capture: Capture) -> Sequence[str]:
    """Return the names by NodeCall, also of nodes not called yet or needed only for gradients."""
    called = capture.names_by_index()
    walked = [key.name for key in capture.keys]
    agree = len(walked) >= len(called) and all(name in ("", walked[index]) for index, name in enumerate(called))
    return walked if agree else called


def _nearest(capture: Capture, index: int, others: Sequence[Capture]) -> str:
    """Return how a node differs from the most similar earlier one (the latest on a tie)."""
    best: tuple[Capture, list[str]] | None = None
    for other in reversed(others):
        differences = _certain_differences(capture, other, index) or _possible_differences(capture, other, index)
        if best is None or len(differences) < len(best[1]):
            best = other, differences
    assert best is not None
    other, differences = best
    if not differences:
        unseen = "a hook, say, or an argument that is neither a tensor nor a size"
        return f"{other.compile_id} has the same node there, but with other constants that cannot be seen: {unseen}"
    return f"{other.compile_id} has the same node there, but {'; '.join(differences)}"


def _key(capture: Capture, index: int) -> NodeKey:
    return capture.keys[index] if index < len(capture.keys) else _NO_KEY


def _certain_differences(capture: Capture, other: Capture, index: int) -> list[str]:
    here, there = _key(capture, index), _key(other, index)
    hooks: tuple[Facts, Facts] = {}, {}
    if _knows_hooks(capture, index) and _knows_hooks(other, index):
        hooks = _hooks(capture, index), _hooks(other, index)
    if here is _NO_KEY or there is _NO_KEY:
        return _compared(*hooks)
    differences = _compared({**here.certain, **hooks[0]}, {**there.certain, **hooks[1]})
    if not differences and here.tensors != there.tensors and None not in (here.tensors, there.tensors):
        differences = _compared({"its tensors": str(here.tensors)}, {"its tensors": str(there.tensors)})
    if not differences and here.connections != there.connections:
        differences = ["its gradients go to other nodes"]
    return differences


def _possible_differences(capture: Capture, other: Capture, index: int) -> list[str]:
    """Return differences of integers, in case nothing else differs: the key has no sizes."""
    return _compared(_key(capture, index).possible, _key(other, index).possible)


def _knows_hooks(capture: Capture, index: int) -> bool:
    """Whether all hooks of the node are known: they are observed as nodes are called."""
    if capture.milliseconds is not None and not capture.failed:
        return True
    return capture.current is not None and index < capture.current.index


def _hooks(capture: Capture, index: int) -> Facts:
    counts = Counter(hook.kind for hook in capture.hooks if hook.node_call == index)
    return {f"{kind}s": str(count) for kind, count in counts.items()}


def _compared(here: Facts, there: Facts) -> list[str]:
    words = [word for word in dict.fromkeys((*there, *here)) if here.get(word) != there.get(word)]
    return [f"{word}: {there.get(word, 'none')} there, {here.get(word, 'none')} here" for word in words]


def _about_sizes(capture: Capture, changed: int) -> str:
    """Return a text on the capture's dynamic sizes: the changed ones have become dynamic."""
    nodes = dict.fromkeys(node_text(capture.names.get(index), index) for index in capture.size_origins)
    return f"{changed} sizes became dynamic; now dynamic are sizes of {', '.join(nodes)}"
