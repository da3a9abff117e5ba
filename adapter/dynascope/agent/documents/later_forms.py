"""Keep what AOTAutograd and Inductor make of a graph as documents, whose lines lead back to the program's.

All is written when it is made, from the graphs' nodes: nothing of the program is kept alive. What comes from one of
torch's caches is told as far as the cache has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dynascope.agent.documents.documents import Documents
from dynascope.agent.events.named_forms import NamedForms
from dynascope.agent.internals.compile.compile_context import compile_id_and_attempt
from dynascope.agent.internals.graph.code import CodeLine, module_code, value_of_aot
from dynascope.agent.program.user_code import is_user_code, real_path


def later_forms(documents: Documents) -> NamedForms:
    """Return an observer that adds a document for each form."""

    def graph(name: str, heading: str, module: Any) -> None:
        text(name, heading, module_code(module, value_of_aot, _is_users))

    def text(name: str, heading: str, lines: Iterable[CodeLine]) -> None:
        compile_id, _ = compile_id_and_attempt()
        if compile_id != "?":  # of no compile of Dynamo's
            documents.form_made(name, heading, compile_id, lines)

    return NamedForms(_is_users, graph, text)


def _is_users(path: str) -> bool:
    return is_user_code(real_path(path))
