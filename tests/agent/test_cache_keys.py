"""What differs in the key of what Inductor's cache does not have is told in words; the keys are torch's own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.events.graphs import AotCache, InductorCache
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.named_forms import NamedForms
from dynascope.facts.generated.cache_keys import MissedKeys, differences, key_of, summary

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs a C++ compiler")


class Stop(Exception):
    """Raised where Inductor has computed a key."""


def components(monkeypatch: Any, function: Callable[..., Any], x: torch.Tensor, **options: Any) -> list[str]:
    """What torch writes of the key of a graph, from a compile that ends there."""
    from torch._inductor import config
    from torch._inductor.codecache import FxGraphCache

    found: list[list[str]] = []

    def load_with_key(key: str, debug_lines: list[str], *args: Any, **kwargs: Any) -> None:
        found.append(debug_lines)
        raise Stop

    torch._dynamo.reset()
    with monkeypatch.context() as patch, config.patch(options), torch.no_grad():
        patch.setattr(FxGraphCache, "load_with_key", staticmethod(load_with_key))
        with pytest.raises(Exception, match="Stop"):
            torch.compile(function)(x)
    return found[0]


def double(x: Any) -> Any:
    return x.sin() * 2


def triple(x: Any) -> Any:
    return x.sin() * 3


def told(missed: MissedKeys, number: int, lines: list[str], is_backward: bool = False) -> tuple[str, list[str]]:
    return missed.told(key_of(lines), f"{number}/0", is_backward)


def test_what_differs_from_the_most_similar_key(monkeypatch):
    missed, plain = MissedKeys(), components(monkeypatch, double, torch.ones(3))
    heading, first = told(missed, 0, plain)
    assert heading == "not in Inductor's cache, and the first forward of this process"
    assert first[0] == f"# The {len(plain)} components of the key:" and len(first) == len(plain) + 1
    heading, lines = told(missed, 1, components(monkeypatch, triple, torch.ones(3)))
    assert heading == "not in Inductor's cache; what differs from the key of [0/0]: the graph"
    assert lines[0] == "# the graph" and "2" in lines[1] and "3" in lines[2] and lines[1] != lines[2]
    heading, lines = told(missed, 2, components(monkeypatch, double, torch.ones(5)))
    assert "input 0 of the graph" in heading and "of [0/0]: " in heading
    position = lines.index("# input 0 of the graph")
    assert "[3]" in lines[position + 1] and "[5]" in lines[position + 2]
    heading, lines = told(missed, 3, components(monkeypatch, double, torch.ones(5), max_fusion_size=5))
    assert heading.endswith("of [2/0]: torch._inductor.config.max_fusion_size")
    assert lines[:3] == ["# torch._inductor.config.max_fusion_size", "#   was 64", "#   is  5"]
    heading, _ = told(missed, 4, plain, is_backward=True)
    assert heading.endswith("the first backward of this process")
    heading, lines = told(missed, 5, plain)
    assert heading.endswith("of [0/0]: nothing") and lines[1].startswith("# The ")
    _, lines = told(missed, 6, [f"[aaaa] gm: {'a' * 400}"])
    _, lines = told(missed, 7, [f"[bbbb] gm: {'a' * 400}b"])
    assert lines[1] == f"#   was …{'a' * 60}" and lines[2] == f"#   is  …{'a' * 60}b"
    # a key is read again from what is written of it, in another run
    again = key_of(first)
    assert again.keys() == key_of(plain).keys() and summary(key_of(plain), again) == "nothing"
    assert list(differences(key_of(plain), again)) == []
    cut = [{"gm": each["gm"]._replace(hash=str(number))} for number, each in enumerate((again, again))]
    assert list(differences(*cut)) == ["# the graph", "#   what differs in it is not kept"]


def test_a_component_that_is_new_or_very_long():
    missed = MissedKeys()
    told(missed, 0, ["[aaaa] gm: def f():\n    one\n", "[bbbb] fx_kwargs[aot_mode]: False"])
    heading, lines = told(
        missed, 1, [f"[cccc] gm: def f():\n    one\n    {'two' * 200}", "[dddd] system_info[device]: x"]
    )
    names = "the graph, the machine's device, how Inductor is called: aot_mode"
    assert heading == f"not in Inductor's cache; what differs from the key of [0/0]: {names}"
    assert lines[1] == "#   was nothing" and len(lines[2]) < 200 and lines[2].endswith("…")
    assert lines[4:6] == ["#   was nothing", "#   is  x"] and lines[7:9] == ["#   was False", "#   is  nothing"]


@pytest.mark.matrix
@needs_compiler
def test_graphs_that_torch_does_not_cache():
    from torch._inductor import config

    found: dict[str, tuple[str, list[str]]] = {}

    def text(name: str, heading: str, lines: Any) -> None:
        found[name] = heading, [line.text for line in lines]

    torch._dynamo.reset()
    observer = NamedForms(lambda path: True, lambda *args: None, text)
    failures = HookFailures(pytest.fail)
    wrappings = [
        AotCache(observer, failures),
        InductorCache(observer, failures),
    ]
    try:
        with config.patch(post_grad_custom_post_pass=lambda graph: None), torch.no_grad():
            torch.compile(double)(torch.ones(3))
    finally:
        for wrapping in wrappings:
            wrapping.remove()
    heading, lines = found["cache key"]
    assert heading == "none: Inductor does not cache this graph" and "post" in "".join(lines)
    heading, lines = found["AOTAutograd cache key"]
    assert heading == "none: AOTAutograd does not cache this graph" and "post" in "".join(lines)
