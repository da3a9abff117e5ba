"""Tell whether a copy of a tensor, or the tensor at a later time, could be told from the tensor itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope_lsp.documents.syntax import Function, Index, dotted
from dynascope_lsp.fixes.expressions.effects import OPERATIONS, is_pure_layer, mutates
from dynascope_lsp.fixes.expressions.inference import called_operation
from dynascope_lsp.fixes.expressions.names import full_name
from dynascope_lsp.fixes.expressions.tensor_type import Types

_NEW = OPERATIONS | {"add", "sub", "mul", "div", "pow", "mm", "bmm", "argmax", "argmin", "cumsum", "mse_loss", "linear"}
"""Operations whose result shares nothing with their arguments."""
_CREATED = frozenset(("zeros", "ones", "full", "rand", "randn", "arange", "linspace", "eye", "empty", "tensor"))
_VIEWS = frozenset(
    (
        *("view", "reshape", "flatten", "unsqueeze", "squeeze", "expand", "t", "transpose", "permute", "contiguous"),
        *("detach", "to", "float", "double", "long", "half", "chunk", "split", "unbind", "cpu", "cuda"),
    )
)
_READS = frozenset(("size", "dim", "numel", "item", "tolist", "stride"))
_KNOWN = frozenset(("shape", "ndim", "dtype", "device", "requires_grad"))
_BUILTINS = frozenset(
    (
        *("len", "float", "int", "bool", "str", "repr", "print", "range", "min", "max", "abs", "round", "isinstance"),
        *("enumerate", "zip", "tuple", "list", "dict", "set"),
    )
)
_PURE_NAMES = frozenset(("torch.no_grad", "torch.enable_grad", "torch._dynamo.graph_break", "torch.where", "torch.cat"))


def may_write(index: Index, function: Function, types: Types) -> bool:
    """Whether a function, or what it calls, may write into a tensor while it runs."""
    if mutates(function.node, types):
        return True
    for each in ast.walk(function.node):
        match each:
            case ast.Call() if each not in function.node.decorator_list and not _is_harmless(index, function, each):
                return True
            case ast.Yield() | ast.YieldFrom() | ast.Await() | ast.AugAssign(target=ast.Attribute()):
                return True
            case ast.Attribute(attr="data" | "grad", ctx=ast.Store()):
                return True
    return False


def is_only_read(index: Index, function: Function, node: ast.expr) -> bool:
    """Whether an expression is computed with where it is, and is neither kept nor handed on."""
    if index.function_at(node.lineno) is not function:
        return False
    parent = index.parents[node]
    match parent:
        case ast.BinOp() | ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()) | ast.FormattedValue():
            return not _is_delayed(index, node)
        case ast.Compare(ops=operators):
            return not any(isinstance(each, ast.Is | ast.IsNot | ast.In | ast.NotIn) for each in operators)
        case ast.Attribute(attr=name):
            call = index.parents[parent]
            if isinstance(call, ast.Call) and call.func is parent:
                return name in _READS or is_new_value(index, function, call)
            return name in _KNOWN
        case ast.Call(func=ast.Name(id="len" | "float" | "int" | "bool" | "print")):
            return True
        case ast.Call():
            return is_new_value(index, function, parent) and not _is_delayed(index, node)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return test is node
    return False


def loads(function: Function, name: str) -> Iterator[ast.Name]:
    """Yield the reads of a name in a function and in those inside of it."""
    for each in ast.walk(function.node):
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load):
            yield each


def is_new(index: Index, function: Function, name: str) -> bool:
    """Whether every value of a local name is made by an operation of the function."""
    if any(each.arg == name for each in function.parameters):
        return False
    made = []
    for each in ast.walk(function.node):
        if isinstance(each, ast.Global | ast.Nonlocal) and name in each.names:
            return False
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store):
            parent = index.parents[each]
            if not isinstance(parent, ast.Assign) or parent.targets != [each]:
                return False
            made.append(parent.value)
    return bool(made) and all(is_new_value(index, function, each) for each in made)


def is_new_value(index: Index, function: Function, node: ast.expr) -> bool:
    """Whether an expression is an operation whose result shares nothing with what it reads."""
    match node:
        case ast.BinOp() | ast.UnaryOp(op=ast.USub()) | ast.Compare():
            return True
        case ast.Call(args=arguments) if not any(_is_truth(each) for each in arguments):
            return (
                is_pure_layer(index, function, node) or _is_custom_operation(index, node) or _is_operation(index, node)
            )
    return False


def _is_operation(index: Index, call: ast.Call) -> bool:
    """Whether an operation of torch is called, and no layer of its name: `self.norm(x)`."""
    name = full_name(index, call.func)
    if name is not None and name.removeprefix("torch.") in _CREATED:
        return not any(each.arg == "requires_grad" for each in call.keywords)
    operation = called_operation(index, call)
    if operation is None or operation[0] not in _NEW:
        return False
    if name is None and dotted(call.func) is not None:
        return dotted(call.func) != f"self.{operation[0]}" and all(isinstance(e, ast.Constant) for e in call.args)
    return True


def _is_harmless(index: Index, function: Function, call: ast.Call) -> bool:
    """Whether a call is known to write into no tensor."""
    if is_new_value(index, function, call) or full_name(index, call.func) in _PURE_NAMES:
        return True
    if isinstance(call.func, ast.Name):
        mine = (each.node.name for each in index.functions)
        return call.func.id in _BUILTINS and call.func.id not in mine
    return isinstance(call.func, ast.Attribute) and call.func.attr in _VIEWS | _READS | {"append", "format"}


def _is_custom_operation(index: Index, call: ast.Call) -> bool:
    """Whether a `torch.library.custom_op` is called that writes into nothing."""
    name = dotted(call.func)
    for function in (each for each in index.functions if each.qualified_name == name):
        for made in function.node.decorator_list:
            if isinstance(made, ast.Call) and full_name(index, made.func) == "torch.library.custom_op":
                return any(each.arg == "mutates_args" and ast.unparse(each.value) == "()" for each in made.keywords)
    return False


def _is_truth(node: ast.expr) -> bool:
    """Whether an argument is `True` or `False`, which may ask an operation to write in place."""
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def _is_delayed(index: Index, node: ast.AST) -> bool:
    """Whether an expression is part of a lambda, which may run at any time."""
    while not isinstance(node, ast.stmt):
        node = index.parents[node]
        if isinstance(node, ast.Lambda):
            return True
    return False
