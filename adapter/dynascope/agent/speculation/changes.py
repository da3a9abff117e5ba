"""Change what a compile decides, as the user asks: shapes, constants, settings, graph breaks.

Some changes are in force while a frame is traced, the others are made before one of its instructions.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import torch

from dynascope.agent.internals.frames.instructions import CALLS
from dynascope.agent.internals.frames.translators import Translator
from dynascope.agent.internals.symbolic_shapes.fake_tensors import is_symbolic
from dynascope.agent.internals.variables.variables import class_names, fields, without_lazy

_MARKED_DYNAMIC = "_dynamo_weak_dynamic_indices"
"""The attribute of a tensor that `maybe_mark_dynamic` (2.1) sets, or adds to."""
_OF_UNBACKED = "_dynamo_unbacked_indices", "_dynamo_hint_overrides", "_specialize_on"
"""Those that `mark_unbacked` (2.1) sets, or adds to."""
_STATIC = "_dynamo_static_indices"
"""The one that `mark_static` (2.0) sets."""


def real_tensor(translator: Translator, variable: object) -> torch.Tensor | None:
    """Return the tensor of the program that an input is, or None.

    Reads `LazyCache.value` (2.1) and `TracingContext.tensor_to_context` (2.2), by their `tensor_source`.
    """
    _, cache = without_lazy(variable)
    if cache is not None:
        value = vars(cache).get("value")
        return value if isinstance(value, torch.Tensor) else None
    source = fields(variable).get("source")
    known = translator.output.tracing_context.tensor_to_context
    for reference, context in list(known.data.items()):
        tensor = reference()
        if source is not None and getattr(context, "tensor_source", None) == source and tensor is not None:
            return tensor
    return None


@contextlib.contextmanager
def _attributes_kept(tensor: torch.Tensor) -> Iterator[dict[str, Any]]:
    """Restore the attributes of a tensor afterwards: what is in them may be the program's own."""
    attributes = tensor.__dict__
    before = dict(attributes)
    try:
        yield attributes
    finally:
        attributes.clear()
        attributes.update(before)


@contextlib.contextmanager
def marked_dynamic(tensor: torch.Tensor, dimensions: Sequence[int]) -> Iterator[None]:
    """Mark dimensions of an input as `torch._dynamo.maybe_mark_dynamic` (2.1) does."""
    decorators: Any = sys.modules["torch._dynamo.decorators"]
    with _attributes_kept(tensor) as attributes:
        decorators.maybe_mark_dynamic(tensor, [*attributes.pop(_MARKED_DYNAMIC, ()), *dimensions])
        yield


@contextlib.contextmanager
def marked_unbacked(tensor: torch.Tensor, dimension: int) -> Iterator[None]:
    """Mark a dimension of an input as `torch._dynamo.decorators.mark_unbacked` (2.1) does."""
    decorators: Any = sys.modules["torch._dynamo.decorators"]
    with _attributes_kept(tensor) as attributes:
        for name in _OF_UNBACKED:
            attributes.pop(name, None)
        decorators.mark_unbacked(tensor, dimension)
        yield


def is_marked_static(tensor: torch.Tensor, dimension: int) -> bool:
    """Whether the program called `mark_static` (2.0) for a dimension of a tensor."""
    return dimension in tensor.__dict__.get(_STATIC, ())


@contextlib.contextmanager
def unmarked_static(tensor: torch.Tensor, dimension: int) -> Iterator[None]:
    """Take away what `mark_static` (2.0) set for a dimension of an input."""
    with _attributes_kept(tensor) as attributes:
        attributes[_STATIC] = set(attributes[_STATIC]) - {dimension}
        yield


def number_dynamic(source: str) -> contextlib.AbstractContextManager[None]:
    """Make an int dynamic by its source (`torch.compiler.config.dynamic_sources`, 2.8)."""
    module = "torch.compiler.config"
    sources = filter(None, (sys.modules[module].dynamic_sources, source))  # type: ignore[attr-defined]
    return setting_changed("dynamic_sources", ",".join(sources), module)


def is_setting(name: str) -> bool:
    """Whether `torch._dynamo.config` (2.0) has a setting of that name."""
    return hasattr(sys.modules["torch._dynamo.config"], name)


def setting(name: str) -> Any:
    """Return the value of a setting of `torch._dynamo.config` (2.0)."""
    return getattr(sys.modules["torch._dynamo.config"], name)


@contextlib.contextmanager
def setting_changed(name: str, value: Any, module: str = "torch._dynamo.config") -> Iterator[None]:
    """Change a setting of `torch._dynamo.config` (2.0), or of another module, for a while."""
    config: Any = sys.modules[module]
    before = getattr(config, name)
    setattr(config, name, value)
    try:
        yield
    finally:
        setattr(config, name, before)


def make_static(translator: Translator, name: str, dimension: int | None) -> None:
    """Fix a local's symbolic number, or a tensor's sizes, to the present value, with a guard.

    Calls `SymNodeVariable.evaluate_expr` (2.0), which `ComptimeVar.force_static` calls, and `SymNode.guard_int` (2.0).
    """
    variable = translator.symbolic_locals[name]
    if "LazyVariableTracker" in class_names(variable):
        variable = variable.realize()
    if "SymNodeVariable" in class_names(variable):
        set_constant(translator, name, variable.evaluate_expr())
    elif "TensorVariable" in class_names(variable):
        sizes = variable.as_proxy().node.meta["example_value"].shape
        for size in sizes if dimension is None else sizes[dimension : dimension + 1]:
            if is_symbolic(size):
                size.node.guard_int("", 0)


def set_constant(translator: Translator, name: str, value: Any) -> None:
    """Set a local (`symbolic_locals`, 2.0) to a constant (`ConstantVariable.create`, 2.0)."""
    variables: Any = sys.modules["torch._dynamo.variables"]
    translator.symbolic_locals[name] = variables.ConstantVariable.create(value)


def break_graph(translator: Translator) -> None:
    """End the graph before the instruction, as a call that Dynamo cannot trace does.

    The break is at an instruction that does nothing (`create_instruction`, 2.0), with `instruction_pointer` (2.0) set
    back: the program resumes at the present one. It cannot resume within a call (`kw_names`, 2.0).
    """
    if translator.instruction_pointer < 2 or getattr(translator, "kw_names", None) is not None:
        _raise_break()
    transformation: Any = sys.modules["torch._dynamo.bytecode_transformation"]

    def raises(frame: Translator, _: Any) -> None:
        frame.instruction_pointer += 1
        _raise_break()

    translator.instruction_pointer -= 1
    _breaking_at(raises, push=False)(translator, transformation.create_instruction("NOP"))


def break_graph_at_call(translator: Translator) -> None:
    """End the graph at the call in progress, which runs as it is (`current_instruction`, 2.0)."""
    instruction = translator.current_instruction
    if instruction.opname not in CALLS:
        _raise_break()
    _breaking_at(lambda frame, _: _raise_break(), push=True)(translator, instruction)


def _breaking_at(raises: Callable[[Translator, Any], None], push: bool) -> Callable[[Translator, Any], None]:
    """Return what traces an instruction that raises (`break_graph_if_unsupported`, 2.10)."""
    symbolic_convert: Any = sys.modules["torch._dynamo.symbolic_convert"]
    handler: Callable[[Translator, Any], None] = symbolic_convert.break_graph_if_unsupported(
        push=push, msg_prefix="Encountered graph break"
    )(raises)
    return handler


def _raise_break() -> NoReturn:
    """Raise Dynamo's error for what it cannot trace (`exc.unimplemented`, 2.8)."""
    exc: Any = sys.modules["torch._dynamo.exc"]
    exc.unimplemented(
        gb_type="Asked for with `what if`", context="", explanation="You have asked for a graph break here.", hints=[]
    )
    raise AssertionError("unimplemented returns never")
