"""Tell the value that an annotation promises: a tensor, a container of tensors, an object of the workspace."""

from __future__ import annotations

import ast

from dynascope_lsp.documents.syntax import dotted
from dynascope_lsp.prediction.modules import WorkspaceModule
from dynascope_lsp.prediction.program import ProgramNames
from dynascope_lsp.prediction.values import OTHER, TENSOR, UNKNOWN, Class, Instance, Keyed, Named, Several, Value

_NOT_TENSORS = frozenset(("int", "float", "bool", "str", "list", "dict", "tuple", "set", "None"))
_LISTS = frozenset(("list", "List", "Sequence", "Iterable"))
_TUPLES = frozenset(("tuple", "Tuple"))
_MAPPINGS = frozenset(("dict", "Dict", "Mapping", "MutableMapping"))


def promised(program: ProgramNames, module: WorkspaceModule, annotation: ast.expr) -> Value:
    """Return the value that an annotation promises, or UNKNOWN, as for `Optional[…]`."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return UNKNOWN
    if isinstance(annotation, ast.Subscript):
        return _container(program, module, annotation)
    name = dotted(annotation)
    if name is None:
        return UNKNOWN
    last = name.rpartition(".")[2]
    if last.endswith("Tensor"):
        return TENSOR if _is_torchs(program, module, name) else UNKNOWN
    if last in _NOT_TENSORS:
        return OTHER
    value = program.evaluate(module, annotation)
    return Instance(value.info, exact=False) if isinstance(value, Class) else UNKNOWN


def _container(program: ProgramNames, module: WorkspaceModule, annotation: ast.Subscript) -> Value:
    of = (dotted(annotation.value) or "").rpartition(".")[2]
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    last = parts[-1] if parts else annotation.slice
    if of in _TUPLES and not (isinstance(last, ast.Constant) and last.value is ...):
        return Several(tuple(promised(program, module, each) for each in parts))
    if of in _LISTS or of in _TUPLES:
        item = promised(program, module, parts[0])
        return Several((item,), repeated=True) if item not in (UNKNOWN, OTHER) else OTHER
    if of in _MAPPINGS and len(parts) == 2:
        return Keyed({}, promised(program, module, last))
    return UNKNOWN


def _is_torchs(program: ProgramNames, module: WorkspaceModule, name: str) -> bool:
    """Whether an annotation names `torch.Tensor` or another of torch's tensor classes."""
    head, _, rest = name.partition(".")
    value = program.global_value(module, head)
    if isinstance(value, Named):
        return f"{value.name}.{rest}".startswith("torch.")
    return value == UNKNOWN and name in ("Tensor", "torch.Tensor")
