"""Report graphs that end, while the frames still exist and the generated code is complete.

`OutputGraph.compile_subgraph` (2.0) reads the live values, generates the code twice (the first pass counts values used
more than once, the second stores them in temporaries), compiles the graph, and fills `output_instructions`; its caller
adds the rest, and leaves the frame. Dynascope has no frame around the backend's work, nor in the recursion of
`PyCodegen.__call__`: that would cost stack depth.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from dynascope.agent.events import torch_names
from dynascope.agent.events.declared_names import TorchName
from dynascope.agent.events.hook_failures import HookFailures
from dynascope.agent.events.wrapping import Events
from dynascope.agent.internals.codegen.codegen import EndedFrame, EndedGraph, PartKind, ResumeFunction, telling
from dynascope.agent.internals.frames.frame_state import symbolic_locals
from dynascope.agent.internals.frames.stack_roles import stack_roles
from dynascope.agent.program.threads import hidden_frame

_NESTED = "__nested_"
"""The prefix of a resume function's arguments that are its callers' (2.9)."""


class _Noted(list[Any]):
    """A list that calls `note` with each item before it is taken, and with None after the last."""

    def __init__(self, items: list[Any], note: Callable[[Any], None]) -> None:
        super().__init__(items[:])
        self._items = items
        """The list itself: it may note for another."""
        self._note = note

    def __iter__(self) -> Iterator[Any]:
        for item in self._items:
            self._note(item)
            yield item
        self._note(None)


class CodegenEvents(Events):
    """Call `ended` for each graph that ends while its frames still exist, on the compiling thread."""

    def __init__(self, ended: Callable[[EndedGraph], None], failures: HookFailures) -> None:
        super().__init__(failures)
        self._ended = ended
        self._endings: dict[int, EndedGraph] = {}
        """By graph."""
        self._notes: dict[int, tuple[EndedGraph, Any]] = {}
        """By `SideEffects`: the graph's end, and the current pass."""
        self._wrap_graph()
        self._wrap_suffix()
        self._wrap_effects()
        self._wrap_calls()

    def remove(self) -> None:
        super().remove()
        self._endings.clear()
        self._notes.clear()

    def _known(self, output: Any) -> EndedGraph | None:
        return self._endings.get(id(output))

    def _wrap_graph(self) -> None:
        def begins(output: Any, tx: Any, stack_pops: int) -> Any:
            return output, tx, symbolic_locals(tx)

        def ends(began: Any, result: Any, error: BaseException | None) -> None:
            if error is None:
                self._take(*began, *result)

        def leaves(output: Any) -> None:
            ending = self._known(output)
            if ending is None:
                return
            fails = _is_left_for_error()
            if fails or output._current_tx[-1] is ending.frames[0].translator:  # not a generator's, run to its end
                self._endings.pop(id(output), None)
                if not fails:
                    with telling(ending):
                        self._ended(ending)

        self.call_around(torch_names.GET_STACK_VALUES_TO_RESTORE, begins, ends)
        self.call_before(torch_names.POP_TX, leaves)

    def _wrap_suffix(self) -> None:
        def codegen_suffix(original: Any, output: Any, tx: Any, values: Any, cg: Any, log_side_effects: bool) -> None:
            ending = self._known(output)
            if ending is None:
                with hidden_frame:
                    original(output, tx, values, cg, log_side_effects)
                return
            ending.marks = []
            ending.codegen = cg
            self._notes[id(output.side_effects)] = ending, cg
            noted = _Noted(values, lambda value: _mark(ending, cg, "value", value))
            try:
                with hidden_frame:
                    original(output, tx, noted, cg, log_side_effects)
            finally:
                self._notes.pop(id(output.side_effects), None)
            if ending.uses is None:
                ending.uses = dict(cg.uses)

        def cells(output: Any, tx: Any, cg: Any) -> None:
            ending = self._known(output)
            if ending is not None and ending.codegen is cg:
                _mark(ending, cg, "cells", None)

        self.call_instead(torch_names.CODEGEN_SUFFIX, codegen_suffix)
        self.call_before(torch_names.CODEGEN_CELLS, cells)

    def _take(self, output: Any, tx: Any, before: dict[str, Any], values: list[Any], meta: Any) -> None:
        """Record one frame of a graph that ends; called for the innermost first."""
        ending = self._known(output)
        if ending is None or any(frame.translator is tx for frame in ending.frames):
            ending = EndedGraph(output)
            self._endings[id(output)] = ending
        stack, names = list(values[: meta.num_stack]), list(meta.locals_names)
        after = dict(tx.symbolic_locals)
        cells = {*tx.cellvars(), *tx.freevars()}
        restored = dict(zip(names, values[meta.num_stack :], strict=True))
        ending.frames.append(
            EndedFrame(
                translator=tx,
                stack=stack,
                roles=_roles(tx, meta),
                restored=restored,
                unchanged={name: value for name, value in after.items() if name not in {*restored, *cells}},
                cells={name: value for name, value in before.items() if name in cells},
                pruned={name: value for name, value in before.items() if name not in {*after, *cells}},
            )
        )

    def _wrap_effects(self) -> None:
        def phase(name: TorchName, kind: PartKind) -> None:
            def begins(effects: Any, cg: Any, *args: Any, **kwargs: Any) -> None:
                known = self._notes.get(id(effects))
                if known is not None and known[1] is cg:
                    _mark(known[0], cg, kind, None)

            self.call_before(name, begins)

        def _get_modified_vars(original: Any, effects: Any) -> Any:
            with hidden_frame:
                found = original(effects)
            known = self._notes.get(id(effects))
            if known is None:
                return found
            ending, cg = known
            kind = ending.marks[-1][1] if ending.marks else "new objects"
            last: PartKind = "applied" if kind == "side effects" else kind
            return _Noted(found, lambda each: _mark(ending, cg, last if each is None else kind, each))

        phase(torch_names.CODEGEN_SAVE_TEMPVARS, "new objects")
        phase(torch_names.CODEGEN_HOOKS, "hooks")
        phase(torch_names.CODEGEN_UPDATE_MUTATED, "side effects")
        self.call_instead(torch_names.GET_MODIFIED_VARS, _get_modified_vars)

    def _wrap_calls(self) -> None:
        def calls(_: None, codegen: Any, fn_name: str) -> None:
            ending = self._known(codegen.tx.output)
            if ending is not None:
                ending.graph_name, ending.call = fn_name, list(codegen.get_instructions())

        def resumes(result: Any, translator: Any, *args: Any, **kwargs: Any) -> None:
            code, name = result
            ending = self._known(translator.output)
            if ending is not None:
                arguments = [each for each in code.co_varnames[: code.co_argcount] if not each.startswith(_NESTED)]
                ending.resumes.append(ResumeFunction(name, code, tuple(arguments)))

        self.call_after(torch_names.MAKE_CALL_GENERATED_CODE, calls)
        self.call_after(torch_names.CREATE_RESUME, resumes)


def _is_left_for_error() -> bool:
    """Whether `InstructionTranslatorBase.run` (2.0) pops its frame because of an error.

    An error of another frame may be handled: the program's, or one that Dynamo breaks the graph for.
    """
    error = sys.exc_info()[1]
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "run":
        frame = frame.f_back
    at = None if error is None else error.__traceback__
    return at is not None and at.tb_frame is frame


def _mark(ending: EndedGraph, cg: Any, kind: PartKind, subject: object | None) -> None:
    """Mark the kind of the code generated from here on, until the next mark."""
    ending.marks.append((len(cg.get_instructions()), kind, subject))


def _roles(tx: Any, meta: Any) -> list[str | None]:
    """Return roles of restored values, not NULLs (`StackLocalsMetadata.stack_null_idxes`, 2.9)."""
    try:
        roles = stack_roles(tx)
    except Exception:  # unknown bytecode
        roles = []
    missing = set(meta.stack_null_idxes)
    kept = [role for i, role in enumerate(roles) if i not in missing]
    return [*kept, *[None] * meta.num_stack][: meta.num_stack]
