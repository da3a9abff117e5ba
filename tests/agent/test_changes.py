"""What has changed since the previous stop, next to what the difference of PyTorch's own checkpoints is."""

from __future__ import annotations

import contextlib
import types
from collections import Counter
from typing import Any

import pytest

pytest.importorskip("torch")

import torch
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.graph.graph import node_text
from dynascope.agent.tracing.activation import Activation
from dynascope.agent.tracing.history.frame_history import FrameHistory
from dynascope.agent.tracing.thread_state import ThreadState
from dynascope.facts.recompiles.guarded_value import readable
from dynascope.wire.beyond_dap import PREVIOUS_STOP

from tests.support.agent.scripted_session import ScriptedSession
from tests.support.marks import one_in
from tests.support.nonperturbation.capture import run
from tests.support.nonperturbation.programs import EXPORT_EXAMPLES, OWN, Program, export_example

pytestmark = pytest.mark.second_leg


class Checkpoint:
    """What torch keeps at one moment: its own copies of guards and modules, the nodes, and whether gradients are on."""

    def __init__(self, output: Any) -> None:
        context = output.tracing_context
        self._guards = context.guards_context.copy_graphstate()
        self._modules = context.module_context.copy_graphstate()
        self._nodes = {id(node): node for node in output.graph.nodes}
        self._graph = output.graph
        self._grad_mode = torch.is_grad_enabled()

    def added_to(self, before: Checkpoint) -> dict[str, Counter[str]]:
        guards = self._guards.diff(before._guards) or ()
        nodes = [node for key, node in self._nodes.items() if key not in before._nodes]
        return {
            "guard": Counter(f"{guard.create_fn_name()} {readable(guard.name)}".rstrip() for guard in guards),
            "module": Counter(self._modules.diff(before._modules) or ()),
            "node": Counter(_operation(node_text(node)) for node in nodes),
            "state": Counter([f"grad mode: {_on(self._grad_mode)}"] * (self._grad_mode is not before._grad_mode)),
        }

    def has_graph_of(self, other: Checkpoint) -> bool:
        return self._graph is other._graph


def _on(is_on: bool) -> str:
    return "on" if is_on else "off"


class EveryLine:
    """A stop at each line that begins, as far as checkpoints and histories are concerned."""

    every_instruction = False

    def __init__(self) -> None:
        self.compared = 0
        self.differences: list[Any] = []
        self._before: Checkpoint | None = None

    def may_stop_in(self, code: types.CodeType) -> bool:
        return True

    def stops_at(self, state: ThreadState, activation: Activation) -> None:
        compile_state = state.begin_compile()
        writer, translator = compile_state.tape_writer, activation.translator
        assert writer is not None
        writer.until_now(stops=True)
        compile_state.checkpoints.stops(compile_state.clock.traced.position)
        now = Checkpoint(translators.output_of(translator))
        before, self._before = self._before, now
        if compile_state.checkpoints.previous_stop is None or before is None or not now.has_graph_of(before):
            return
        told = FrameHistory(writer, translator, compile_state.checkpoints).changes()
        since, *_ = told
        assert since.title == PREVIOUS_STOP
        self.compared += 1
        for what, added in now.added_to(before).items():
            texts = [entry.text for entry in since.entries if entry.what == what and _counts(entry.text)]
            recorded = Counter(map(_operation, texts) if what == "node" else texts)
            if recorded != added:
                self.differences.append((translator.f_code.co_name, activation.line, what, recorded, added))


def _operation(node: str) -> str:
    """Return what the text of a node says without names: Dynamo changes those."""
    return node.partition(" = ")[2].partition("(")[0]


def _counts(text: str) -> bool:
    return "mode: " not in text or text.startswith("grad ")


def compare(program: Program) -> int:
    session, check = ScriptedSession(), EveryLine()
    with session.attached():
        hook = session.agent.session.hook
        assert hook is not None
        hook.add_check(check)
        run(program, contextlib.nullcontext())
    assert check.differences == []
    return check.compared


@pytest.mark.parametrize("name", one_in(6, EXPORT_EXAMPLES))
def test_export_example(name: str) -> None:
    compare(export_example(name))


def test_own_programs() -> None:
    assert sum(compare(OWN[name]()) for name in sorted(OWN)) > 50
