"""Read fake tensors and symbolic numbers, their text and hints, without evaluating anything in the ShapeEnv.

Comparing, `bool()` or `int()` on a SymInt adds a guard; `SymNode.expr` may rewrite the ShapeEnv's replacements. Here
the `SymNode._expr` (2.0) is read and replacements are applied to a copy.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.sym_node import SymNode
from torch.utils import _dtype_abbrs

SYMBOLIC_TYPES = (torch.SymInt, torch.SymFloat, torch.SymBool)
_symbolic = frozenset(SYMBOLIC_TYPES)


def dtype_text(dtype: torch.dtype) -> str:
    """Return FX's text: `f32` for torch.float32 (`torch.utils._dtype_abbrs.dtype_abbrs`, 2.4)."""
    short: str | None = _dtype_abbrs.dtype_abbrs.get(dtype)
    return short if short is not None else str(dtype).removeprefix("torch.")


def is_tensor(value: object) -> bool:
    """Whether `value` is a tensor, real or fake, without reading its `__class__`."""
    return issubclass(type(value), torch.Tensor)


def is_fake(value: object) -> bool:
    """Whether `value` is a `torch._subclasses.FakeTensor` (2.0)."""
    return type(value) is FakeTensor


def is_symbolic(value: object) -> bool:
    """Whether `value` is a SymInt, SymFloat or SymBool."""
    return type(value) in _symbolic


def expression_of(value: Any) -> Any:
    """Return a symbolic number's sympy expression after the ShapeEnv's replacements, or None."""
    node = value.node
    expression = getattr(node, "_expr", None)
    environment = getattr(node, "shape_env", None)
    if expression is None or environment is None:
        return None
    if is_long(expression):
        return expression
    replacements = vars(environment).get("replacements") or {}
    for _ in range(8):  # chains of replacements are short; a bound keeps a cycle from hanging the stop
        wanted = {s: replacements[s] for s in expression.free_symbols if s in replacements} if replacements else {}
        if not wanted:
            break
        expression = expression.xreplace(wanted)
    return expression


_LONG = 200
"""The number of parts above which sympy is noticeably slow: it takes a minute for a sum of 25,000."""


@functools.lru_cache(maxsize=1024)
def is_long(expression: Any) -> bool:
    """Whether an expression has too many parts to be printed or calculated quickly."""
    waiting, seen = [expression], 0
    while waiting:
        parts = getattr(waiting.pop(), "args", ())
        seen += len(parts)
        if seen > _LONG:
            return True
        waiting += parts
    return False


def symbolic_text(value: Any) -> str:
    """Return the text of a number, `s77 + 1` for a symbolic one, or a long one's description."""
    if type(value) not in _symbolic:
        return str(value)
    expression = expression_of(value)
    if expression is None:
        return str(value.node)
    return expression_text(expression)


def is_expression(value: object) -> bool:
    """Whether `value` is an expression of sympy or of `torch.utils._sympy` (2.0)."""
    module = type.__dict__["__module__"].__get__(type(value))
    if type(module) is not str or not module.startswith(("sympy.", "torch.utils._sympy.")):
        return False
    return hasattr(type(value), "free_symbols")


@functools.lru_cache(maxsize=1024)
def expression_text(expression: Any) -> str:
    """Return a sympy expression's text, cached (it takes 0.5 ms), or a long one's description.

    A float in it is as short as Python's: `0.4`, where `str` has `0.400000000000000`.
    """
    if is_long(expression):
        return f"({type(expression).__name__} of {len(expression.args):,} parts)"
    from sympy import sstr  # type: ignore[import-untyped]  # here, as torch imports it when a symbol is made

    return str(sstr(expression, order=None, full_prec=False))


def node_expression(value: object) -> Any:
    """Return the expression in a `torch.fx.experimental.sym_node.SymNode` (2.0); else None."""
    return vars(value).get("_expr") if type(value) is SymNode else None


def hint_of(value: Any) -> int | float | bool | None:
    """Return a symbolic number's value in this call; None if it is unbacked (data-dependent)."""
    if type(value) not in _symbolic:
        plain: int | float | bool = value
        return plain
    node = value.node
    hint = getattr(node, "_hint", None)
    if isinstance(hint, (bool, int, float)):
        return hint
    expression = expression_of(value)
    if expression is None:
        return None
    if is_long(expression):
        return None
    result = expression.xreplace(hints(node.shape_env))
    if getattr(result, "free_symbols", None):
        return None
    return _as_number(result)


def hints(environment: Any) -> dict[Any, Any]:
    """Return backed symbols' values: `ShapeEnv.backed_var_to_val` (2.11; the old name warns)."""
    known = vars(environment)
    found: dict[Any, Any] = known.get("backed_var_to_val") or {}
    return found


def _as_number(result: Any) -> int | float | bool | None:
    for convert in (int, float) if getattr(result, "is_number", False) else (bool,):
        try:
            number: int | float | bool = convert(result)
        except (TypeError, ValueError):
            continue
        if convert is bool or number == result:
            return number
    return None


def shape_text(tensor: torch.Tensor) -> str:
    """Return the shape as `[s77, 16]`."""
    shape = tensor.shape
    if _symbolic.isdisjoint(map(type, shape)):
        return str(list(shape))
    return f"[{', '.join([symbolic_text(size) for size in shape])}]"


def tensor_text(tensor: torch.Tensor) -> str:
    """Return dtype and shape as `f32[s77, 16]`, with the device when it is not cpu."""
    # its `device` is meta while an operator runs on fake tensors
    device = tensor.fake_device if type(tensor) is FakeTensor else tensor.device
    place = "" if device.type == "cpu" else f" {device}"
    return f"{dtype_text(tensor.dtype)}{shape_text(tensor)}{place}"


def sizes_of(value: object) -> list[Any]:
    """Return the symbolic numbers in a fake tensor's shape, or a symbolic number itself."""
    numbers = value.shape if isinstance(value, torch.Tensor) else (value,)
    return [number for number in numbers if is_symbolic(number)]


def stride_text(tensor: torch.Tensor) -> str:
    """Return `(16, 1)`, `(1,)`, or why there are no strides (sparse and nested tensors)."""
    try:
        steps = [symbolic_text(step) for step in tensor.stride()]
        return f"({steps[0]},)" if len(steps) == 1 else f"({', '.join(steps)})"
    except Exception as error:
        return f"none: {str(error).splitlines()[0]}"
