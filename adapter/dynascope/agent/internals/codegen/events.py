"""Graphs that end, told of while the frames are still there and the generated code is complete.

`OutputGraph.compile_subgraph` (2.0) reads what is alive, generates the code twice (the first pass counts what is used
more than once, the second keeps that in temporaries), compiles the graph, and leaves all in `output_instructions`; its
caller adds what follows, and leaves the frame. Nothing of ours stands around the backend's work, nor in the recursion
of `PyCodegen.__call__`: that would cost depth.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from dynascope.agent.internals.codegen.codegen import EndedFrame, Ending, PartKind, Resume, telling
from dynascope.agent.internals.frames.frame_state import symbolic_locals
from dynascope.agent.internals.frames.stack_roles import stack_roles
from dynascope.agent.internals.wrapping import Wrapping

_NESTED = "__nested_"
"""Begins arguments of resume functions that pass on those of the callers (2.9)."""


class _Noted(list[Any]):
    """Calls `note` with each item before it is taken, and with None behind the last."""

    def __init__(self, items: list[Any], note: Callable[[Any], None]) -> None:
        super().__init__(items)
        self._note = note

    def __iter__(self) -> Iterator[Any]:
        for item in super().__iter__():
            self._note(item)
            yield item
        self._note(None)


class CodegenEvents(Wrapping):
    """Tells of ended graphs while the frames are still there: `ended` is called on the compiling thread.

    Wraps, of `output_graph.OutputGraph`, `_get_stack_values_to_restore` (2.9), `codegen_suffix` (2.0), `codegen_cells`
    (2.9) and `pop_tx` (2.10); of `side_effects.SideEffects`, `codegen_save_tempvars` (2.1), `codegen_hooks` (2.1),
    `codegen_update_mutated` (2.0) and `_get_modified_vars` (2.0); `codegen.PyCodegen.make_call_generated_code` (2.0);
    `symbolic_convert.InstructionTranslatorBase.create_resume` (2.10).
    """

    def __init__(self, contain: Callable[[Callable[[], None]], None], ended: Callable[[Ending], None]) -> None:
        """`contain` calls what it is given, and reports what that raises."""
        super().__init__()
        self._contain = contain
        self._ended = ended
        self._endings: dict[int, Ending] = {}
        """By graph."""
        self._notes: dict[int, tuple[Ending, Any]] = {}
        """By `SideEffects`: the graph, and the pass that generates now."""
        self._wrap_graph(sys.modules["torch._dynamo.output_graph"].OutputGraph)
        self._wrap_effects(sys.modules["torch._dynamo.side_effects"].SideEffects)
        self._wrap_calls()

    def remove(self) -> None:
        super().remove()
        self._endings.clear()
        self._notes.clear()

    def _known(self, output: Any) -> Ending | None:
        return self._endings.get(id(output))

    def _wrap_graph(self, graph_class: Any) -> None:
        restore, suffix, pop = graph_class._get_stack_values_to_restore, graph_class.codegen_suffix, graph_class.pop_tx
        cells = graph_class.codegen_cells
        events = self

        def _get_stack_values_to_restore(self: Any, tx: Any, stack_pops: int) -> Any:
            before = symbolic_locals(tx)
            values, meta = restore(self, tx, stack_pops)
            events._contain(lambda: events._take(self, tx, before, values, meta))
            return values, meta

        def codegen_suffix(self: Any, tx: Any, stack_values: Any, cg: Any, log_side_effects: bool) -> None:
            ending = events._known(self)
            if ending is None:
                suffix(self, tx, stack_values, cg, log_side_effects)
                return
            ending.marks = []
            ending.codegen = cg
            events._notes[id(self.side_effects)] = ending, cg
            noted = _Noted(stack_values, lambda value: _mark(ending, cg, "value", value))
            try:
                suffix(self, tx, noted, cg, log_side_effects)
            finally:
                events._notes.pop(id(self.side_effects), None)
            if ending.uses is None:
                ending.uses = dict(cg.uses)

        def codegen_cells(self: Any, tx: Any, cg: Any) -> None:
            ending = events._known(self)
            if ending is not None and ending.codegen is cg:
                _mark(ending, cg, "cells", None)
            cells(self, tx, cg)

        def pop_tx(self: Any) -> Any:
            ending = events._known(self)
            if ending is not None:
                fails = _is_left_for_error()
                if fails or self._current_tx[-1] is ending.frames[0].translator:  # not a generator's, which is run out
                    events._endings.pop(id(self), None)
                    if not fails:
                        with telling(ending):
                            events._ended(ending)
                del ending
            return pop(self)

        self.put(graph_class, "_get_stack_values_to_restore", _get_stack_values_to_restore)
        self.put(graph_class, "codegen_suffix", codegen_suffix)
        self.put(graph_class, "codegen_cells", codegen_cells)
        self.put(graph_class, "pop_tx", pop_tx)

    def _take(self, output: Any, tx: Any, before: dict[str, Any], values: list[Any], meta: Any) -> None:
        """One frame of a graph that ends, the innermost first."""
        ending = self._known(output)
        if ending is None or any(frame.translator is tx for frame in ending.frames):
            ending = Ending(output)
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

    def _wrap_effects(self, effects_class: Any) -> None:
        events = self
        modified = effects_class._get_modified_vars

        def phase(name: str, kind: PartKind) -> None:
            original = getattr(effects_class, name)

            def wrapper(self: Any, cg: Any, *args: Any, **kwargs: Any) -> Any:
                known = events._notes.get(id(self))
                if known is None or known[1] is not cg:
                    return original(self, cg, *args, **kwargs)
                _mark(known[0], cg, kind, None)
                return original(self, cg, *args, **kwargs)

            wrapper.__name__ = name
            events.put(effects_class, name, wrapper)

        def _get_modified_vars(self: Any) -> Any:
            found = modified(self)
            known = events._notes.get(id(self))
            if known is None:
                return found
            ending, cg = known
            kind = ending.marks[-1][1] if ending.marks else "new objects"
            last: PartKind = "applied" if kind == "side effects" else kind
            return _Noted(found, lambda each: _mark(ending, cg, last if each is None else kind, each))

        phase("codegen_save_tempvars", "new objects")
        phase("codegen_hooks", "hooks")
        phase("codegen_update_mutated", "side effects")
        self.put(effects_class, "_get_modified_vars", _get_modified_vars)

    def _wrap_calls(self) -> None:
        events = self
        codegen_class: Any = sys.modules["torch._dynamo.codegen"].PyCodegen
        translator_class: Any = sys.modules["torch._dynamo.symbolic_convert"].InstructionTranslatorBase
        make, create = codegen_class.make_call_generated_code, translator_class.create_resume

        def make_call_generated_code(self: Any, fn_name: str) -> None:
            make(self, fn_name)
            ending = events._known(self.tx.output)
            if ending is not None:
                ending.graph_name, ending.call = fn_name, list(self.get_instructions())

        def create_resume(self: Any, *args: Any, **kwargs: Any) -> Any:
            code, name = create(self, *args, **kwargs)
            ending = events._known(self.output)
            if ending is not None:
                arguments = [each for each in code.co_varnames[: code.co_argcount] if not each.startswith(_NESTED)]
                ending.resumes.append(Resume(name, code, tuple(arguments)))
            return code, name

        self.put(codegen_class, "make_call_generated_code", make_call_generated_code)
        self.put(translator_class, "create_resume", create_resume)


def _is_left_for_error() -> bool:
    """Whether `InstructionTranslatorBase.run` (2.0), which is about to pop its frame, ends by an exception of its own.

    Others may be handled meanwhile: the program's, or one that Dynamo breaks the graph for.
    """
    error = sys.exc_info()[1]
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_name != "run":
        frame = frame.f_back
    at = None if error is None else error.__traceback__
    return at is not None and at.tb_frame is frame


def _mark(ending: Ending, cg: Any, kind: PartKind, subject: object | None) -> None:
    """What is generated from here on is of this kind, until the next mark."""
    ending.marks.append((len(cg.get_instructions()), kind, subject))


def _roles(tx: Any, meta: Any) -> list[str | None]:
    """Of the values that are restored: NULLs of the stack are not (`StackLocalsMetadata.stack_null_idxes`, 2.9)."""
    try:
        roles = stack_roles(tx)
    except Exception:  # bytecode that nobody foresaw
        roles = []
    missing = set(meta.stack_null_idxes)
    kept = [role for i, role in enumerate(roles) if i not in missing]
    return [*kept, *[None] * meta.num_stack][: meta.num_stack]
