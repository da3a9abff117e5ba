"""Tell what an expression or a function does to tensors: what it writes, makes anew, or only reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope_lsp.documents.syntax import Function, Index, dotted, words
from dynascope_lsp.fixes.inference import (
    ELEMENTWISE,
    REDUCTIONS,
    TESTS,
    TRUTHS,
    Types,
    called_operation,
    full_name,
)

PURE_LAYERS = words("Linear LayerNorm RMSNorm GroupNorm Conv1d Conv2d ReLU GELU SiLU Tanh Sigmoid")
"""Layers of torch.nn whose results are new, depend on weights and arguments alone, and that change nothing."""
OPERATIONS = ELEMENTWISE | REDUCTIONS | TESTS | TRUTHS | {"softmax", "log_softmax", "matmul", "zeros_like", "ones_like"}
_SAFE_METHODS = ("requires_grad_", "manual_seed_")

_NEW = OPERATIONS | {"add", "sub", "mul", "div", "pow", "mm", "bmm", "argmax", "argmin", "cumsum", "mse_loss", "linear"}
"""Operations whose result shares nothing with their arguments."""
_CREATED = words("zeros ones full rand randn arange linspace eye empty tensor")
_VIEWS = words(
    """
    view reshape flatten unsqueeze squeeze expand t transpose permute contiguous detach to float double long half
    chunk split unbind cpu cuda
    """
)
_READS = words("size dim numel item tolist stride")
_KNOWN = words("shape ndim dtype device requires_grad")
_BUILTINS = words(
    "len float int bool str repr print range min max abs round isinstance enumerate zip tuple list dict set"
)
_PURE_NAMES = frozenset(("torch.no_grad", "torch.enable_grad", "torch._dynamo.graph_break", "torch.where", "torch.cat"))


def mutates(node: ast.AST, types: Types | None = None) -> bool:
    """Whether some code may write into a tensor: `add_`, `x[…] = …`, `x += …`, `out=`.

    Without `types` (for code that was not traced), `x += value` counts for any name, unless the value is a number.
    """
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Attribute(attr=name)) if name.endswith("_") and not name.endswith("__"):
                if name not in _SAFE_METHODS:
                    return True
            case ast.Call(keywords=keywords) if any(k.arg in ("out", "inplace") for k in keywords):
                return True
            case ast.Subscript(ctx=ast.Store()):
                return True
            case ast.AugAssign(target=ast.Name(id=name)):
                if types is not None and types.is_tensor_somewhere(name):
                    return True
                if types is None and not is_number(each.value):
                    return True
            case ast.AugAssign(target=ast.Subscript()):
                return True
    return False


def is_number(node: ast.expr) -> bool:
    """Whether an expression is plainly no tensor: a literal, `len(xs)`, `loss.item() * 2`."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) and is_number(right)
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in ("float", "int", "len", "item", "numel", "size")
    return False


def is_pure(index: Index, function: Function, node: ast.expr) -> bool:
    """Whether every call in an expression is an operation or layer without side effects."""
    for each in ast.walk(node):
        if isinstance(each, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.Lambda | ast.comprehension):
            return False
        if isinstance(each, ast.Call) and not _is_pure_call(index, function, each):
            return False
    return True


def _is_pure_call(index: Index, function: Function, call: ast.Call) -> bool:
    if isinstance(call.func, ast.Name):
        return call.func.id == "len"
    if dotted(call.func) and str(dotted(call.func)).startswith("self."):
        return _layer(index, function, call.func) in PURE_LAYERS | {"Identity"}
    operation = called_operation(index, call)
    return operation is not None and operation[0] in OPERATIONS


def is_pure_layer(index: Index, function: Function, call: ast.Call) -> bool:
    """Whether a call is of a layer of the module whose result is new."""
    return str(dotted(call.func)).startswith("self.") and _layer(index, function, call.func) in PURE_LAYERS


def _layer(index: Index, function: Function, node: ast.expr) -> str | None:
    """Return the torch.nn class of `self.name`, assigned once: `self.name = nn.Linear(…)`."""
    name = dotted(node)
    owner = index.parents.get(function.node)
    made = [
        each.value
        for each in ast.walk(owner if isinstance(owner, ast.ClassDef) else index.tree)
        if isinstance(each, ast.Assign) and any(dotted(target) == name for target in each.targets)
    ]
    if len(made) != 1 or not isinstance(made[0], ast.Call):
        return None
    called = full_name(index, made[0].func) or ""
    inplace = any(k.arg == "inplace" for k in made[0].keywords)
    return called.removeprefix("torch.nn.") if called.startswith("torch.nn.") and not inplace else None


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
