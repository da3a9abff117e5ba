"""The law holds for what comes after Dynamo: the graphs of AOTAutograd, Inductor's code and its caches' keys."""

from __future__ import annotations

import contextlib
import functools
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.facts.generated.model import LaterForm
from dynascope.facts.in_progress import Board
from dynascope.facts.profile import Profile
from dynascope.wire.dap import EvaluateResult, SourceBody
from dynascope.wire.to_agent import RunCommand, SourceText
from torch._dynamo.backends.registry import lookup_backend

from tests.support.nonperturbation.capture import Traces, run
from tests.support.nonperturbation.observers import Everywhere
from tests.support.nonperturbation.programs import LATER

MADE = (
    "joint graph",
    "inference graph",
    "forward graph",
    "backward graph",
    "cache key",
    "post-grad graph",
    "output code",
    "saved values",
)
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="Inductor needs a C++ compiler")


def ask_about_forms(session: Everywhere) -> None:
    """Read what there is so far, as a client may at any stop."""
    for question in ("all", "0/0 graph", "from programs.py:1"):
        session.ask(RunCommand(id=8, name="forms", argument=question), EvaluateResult)
    for source in session.agent.session.loaded_sources.sources():
        session.ask(SourceText(id=9, source_reference=source.source_reference or 0), SourceBody)


@contextlib.contextmanager
def recording(forms: list[LaterForm]) -> Iterator[None]:
    """Record, and note the forms."""
    from dynascope.agent.recorder.recorder import Recorder

    def later(compile_id: str, what: Profile | LaterForm) -> None:
        forms.extend([what] if isinstance(what, LaterForm) else [])

    recorder = Recorder(lambda facts, trails: forms.extend(facts.forms), later, pytest.fail, Board())
    try:
        yield
    finally:
        recorder.remove()


@contextlib.contextmanager
def noting_what_is_made(traces: Traces) -> Iterator[None]:
    """Note torch's own texts of what AOTAutograd and Inductor make."""
    from torch._functorch._aot_autograd import graph_compile
    from torch._inductor.output_code import CompiledFxGraph

    with pytest.MonkeyPatch.context() as patch:
        for name in ("_log_joint_graph", "_log_fw_bw_graphs", "_log_inference_graph"):
            original = getattr(graph_compile, name)

            @functools.wraps(original)
            def note(*args: Any, original: Any = original, **kwargs: Any) -> Any:
                graphs = [each for each in args if isinstance(each, torch.fx.GraphModule)]
                traces.graphs += [each.print_readable(print_output=False) for each in graphs]
                return original(*args, **kwargs)

            patch.setattr(graph_compile, name, note)
        finish = CompiledFxGraph.post_compile

        def note_code(self: Any, *args: Any, **kwargs: Any) -> None:
            code = re.sub(r"AOT ID: \['\d+", "AOT ID: ['N", self.source_code)  # the process's running number
            traces.code += [self.inductor_post_grad_graph_str, code, self._fx_graph_cache_key]
            finish(self, *args, **kwargs)

        patch.setattr(CompiledFxGraph, "post_compile", note_code)
        yield


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=[needs_compiler, pytest.mark.matrix])])
@pytest.mark.parametrize("name", sorted(LATER))
def test_what_is_made_of_a_graph(name: str, backend: str) -> None:
    from torch._inductor.utils import fresh_inductor_cache

    program = LATER[name]()

    def once(observer: contextlib.AbstractContextManager[Any]) -> Traces:
        return run(program, observer, lookup_backend(backend), noting_what_is_made)

    with fresh_inductor_cache():
        once(contextlib.nullcontext())
        from_cache = once(contextlib.nullcontext())
        session = Everywhere(ask_about_forms)
        assert from_cache.differences(once(session.inspecting())) == []
        assert not session.complaints, session.complaints[:3]
    with fresh_inductor_cache():
        plain = once(contextlib.nullcontext())
    with fresh_inductor_cache():
        session = Everywhere(ask_about_forms)
        observed = once(session.inspecting())
    assert not session.complaints, session.complaints[:3]
    assert len(plain.graphs) > 1 and plain.differences(observed) == []
    kept = [source.name or "" for source in session.agent.session.loaded_sources.sources()]
    assert any(form.endswith(("joint graph", "inference graph")) for form in kept)
    assert any(form.endswith("output code") for form in kept) == (backend == "inductor")
    forms: list[LaterForm] = []
    with fresh_inductor_cache():
        assert plain.differences(once(recording(forms))) == []
    assert {each.name for each in forms} == {form.partition("] ")[2] for form in kept if form.endswith(MADE)}
