"""Where a module compiles something: `@torch.compile`, `torch.compile(…)`, `module.compile()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynascope_lsp.documents.syntax import FunctionNode
from dynascope_lsp.prediction.frame import Frame
from dynascope_lsp.prediction.interpreter import Interpreter
from dynascope_lsp.prediction.modules import ClassInfo, Module
from dynascope_lsp.prediction.values import Class, Function, Instance, Value

COMPILE = "torch.compile"


def mentions_compile(source: str) -> bool:
    """A quick look: whether it is worth the work to find sites."""
    return "torch" in source and "compile" in source


def compiled(interpreter: Interpreter, module: Module) -> Iterator[Function]:
    """The functions that compiles of this module begin with."""
    for owner, node in _functions(module):
        if any(_compiles(interpreter, module, decorator) for decorator in node.decorator_list):
            static = any(interpreter.name_of(module, each) == "builtins.staticmethod" for each in node.decorator_list)
            bound = Instance(owner, exact=False) if owner is not None and not static else None
            yield Function(module, node, owner, bound)
    for scopes, call in _calls(module):
        name = interpreter.name_of(module, call.func)
        if name == COMPILE and not _disabled(call):
            target = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "model"), None)
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "compile" and name is None:
            target = call.func.value
        else:
            continue
        if target is None:
            continue
        value = _value(interpreter, module, scopes, target)
        if isinstance(call.func, ast.Attribute) and name is None and not _is_module(interpreter, value):
            continue
        function = _entry(interpreter, value)
        if function is not None:
            yield function


def _compiles(interpreter: Interpreter, module: Module, decorator: ast.expr) -> bool:
    """Whether a decorator is `torch.compile`, `torch.compile(…)` or `partial(torch.compile, …)`."""
    if not isinstance(decorator, ast.Call):
        return interpreter.name_of(module, decorator) == COMPILE
    name = interpreter.name_of(module, decorator.func)
    if name == "functools.partial" and decorator.args:
        name = interpreter.name_of(module, decorator.args[0])
    return name == COMPILE and not _disabled(decorator)


def _is_module(interpreter: Interpreter, value: Value) -> bool:
    """Whether its `compile` is that of torch.nn.Module: a base class is from elsewhere, and none has its own."""
    if not isinstance(value, Instance) or interpreter.method(value.info, "compile") is not None:
        return False
    return any(len(each.node.bases) > 0 for each in interpreter.bases(value.info))


def _disabled(call: ast.Call) -> bool:
    return any(
        each.arg == "disable" and not (isinstance(each.value, ast.Constant) and not each.value.value)
        for each in call.keywords
    )


def _functions(module: Module) -> Iterator[tuple[ClassInfo | None, FunctionNode]]:
    owners = {id(method): info for info in module.classes.values() for method in info.methods.values()}
    for each in module.text.index.functions if module.text.index else ():
        yield owners.get(id(each.node)), each.node


def _calls(module: Module) -> Iterator[tuple[list[ast.AST], ast.Call]]:
    """Every call that may compile, with the functions around it, outermost first."""
    index = module.text.index
    for line, calls in sorted(index.calls.items()) if index else ():
        for call in calls:
            if index is not None and "compile" in module.text.line(line):
                scopes: list[ast.AST] = []
                function = index.function_at(line)
                while function is not None:
                    if function.node.lineno <= line:
                        scopes.insert(0, function.node)
                    function = function.parent
                yield scopes, call


def _value(interpreter: Interpreter, module: Module, scopes: list[ast.AST], target: ast.expr) -> Value:
    """What is compiled, from the assignments of the functions around the call."""
    frame = Frame.to_evaluate(interpreter, module)
    owners = {id(method): info for info in module.classes.values() for method in info.methods.values()}
    for scope in scopes:
        if id(scope) in owners:
            frame.names["self"] = Instance(owners[id(scope)], exact=False)
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                if node.lineno < target.lineno:
                    frame.names[node.targets[0].id] = frame.evaluate(node.value)
            elif isinstance(node, FunctionNode) and node is not scope:
                frame.names[node.name] = Function(module, node, closure=frame.names)
    return frame.evaluate(target)


def _entry(interpreter: Interpreter, value: Value) -> Function | None:
    """The function that runs when a value is called."""
    if isinstance(value, Function):
        return value
    info = value.info if isinstance(value, Instance) else None
    if info is None or isinstance(value, Class):
        return None
    forward = interpreter.method(info, "forward") or interpreter.method(info, "__call__")
    if forward is None:
        return None
    return Function(forward.module, forward.node, forward.owner, value)
