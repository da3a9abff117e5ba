"""Record what AOTAutograd and Inductor make of a graph, also after its compile has ended: the backward's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dynascope.agent.events.named_forms import NamedForms
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.internals.graph.code import CodeLine, graphs_of, value_of_aot
from dynascope.agent.recorder.frame import is_users, path_of_file
from dynascope.facts.generated.model import CODE_KEPT, LaterForm


def recorded_forms(made: Callable[[str, LaterForm], None]) -> NamedForms:
    """Return an observer that tells `made` each form and the id of its compile."""

    def graph(name: str, heading: str, module: Any) -> None:
        if (compile_id := _compile_id()) is not None:
            made(compile_id, LaterForm(name, heading, graphs_of(module, is_users, path_of_file, value_of_aot)))

    def text(name: str, heading: str, lines: Iterable[CodeLine]) -> None:
        if (compile_id := _compile_id()) is not None:
            whole = "\n".join(line.text for line in lines)
            form = LaterForm(name, heading, text=whole[:CODE_KEPT], left_out=max(0, len(whole) - CODE_KEPT))
            made(compile_id, form)

    return NamedForms(is_users, graph, text)


def _compile_id() -> str | None:
    """Return the id of the compile in progress, or of that whose backward is compiled, if any."""
    compile_id, _ = compile_id_and_attempt()
    return None if compile_id == "?" else compile_id
