"""Make `dynascope.comptime` a value that Dynamo neither guards, inlines nor puts into the graph.

PyTorch's `comptime` is inlined, which guards its functions and installs their module among the program's globals.
Dynascope's is recognised where it is loaded (`_load_global`, `IMPORT_NAME`) or wrapped
(`VariableBuilder._id_dispatch`), and its calls run at trace time: the compile is that of the program without them.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from typing import Any, cast

from torch._dynamo.variables import ConstantVariable
from torch._dynamo.variables.base import VariableTracker

from dynascope.agent.events import torch_names
from dynascope.agent.events.wrapping import Events
from dynascope.agent.program.threads import hidden_frame

Call = Callable[[Any, str, list[Any], dict[str, Any]], Any]
"""`(translator, method or "__call__", arguments, keywords)` → the variable it returns, or None for the constant."""

_PACKAGE, _NAME = "dynascope", "comptime"


class ComptimeTracing(Events):
    """Make Dynamo call `call` for calls of `subject`, the value of `dynascope.comptime`; once per process.

    Wraps `InstructionTranslatorBase._load_global` and its override for inlined frames (2.0), the `IMPORT_NAME` of
    their `dispatch_table` (2.1), and adds to `VariableBuilder._id_dispatch()` (2.1).
    """

    def __init__(self, subject: object, call: Call) -> None:
        super().__init__()
        self._subject = subject
        self._call = call
        builder: Any = sys.modules["torch._dynamo.variables.builder"]
        builder.VariableBuilder._id_dispatch()[id(subject)] = lambda _builder, _value: self._variable("comptime")
        for name in torch_names.LOADS_OF_GLOBALS:
            self.call_instead(name, self._load_global)
        waiting = [sys.modules["torch._dynamo.symbolic_convert"].InstructionTranslatorBase]
        while waiting:
            kind = waiting.pop()
            waiting += kind.__subclasses__()
            table, opcode = kind.dispatch_table, dis.opmap["IMPORT_NAME"]
            table[opcode] = self._importing(table[opcode])

    def _variable(self, what: str) -> ComptimeVariable:
        return ComptimeVariable(what, self._call)

    def _load_global(self, original: Callable[[Any, Any], None], translator: Any, instruction: Any) -> None:
        value = translator.f_globals.get(instruction.argval)
        if value is self._subject:
            translator.push(self._variable("comptime"))
        elif value is not None and value is sys.modules.get(_PACKAGE) and _leads_to_comptime(translator):
            translator.push(self._variable("module"))
        else:
            with hidden_frame:
                original(translator, instruction)

    def _importing(self, original: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        def IMPORT_NAME(translator: Any, instruction: Any) -> None:
            names = getattr(translator.stack[-1], "value", None)
            if instruction.argval == _PACKAGE and names == (_NAME,):
                translator.popn(2)
                translator.push(self._variable("module"))
            else:
                with hidden_frame:
                    original(translator, instruction)

        return IMPORT_NAME


def _leads_to_comptime(translator: Any) -> bool:
    """Whether the next instruction (`instruction_pointer`) takes `comptime` from the module."""
    following = translator.instructions[translator.instruction_pointer]
    return following.opname in ("LOAD_ATTR", "LOAD_METHOD") and following.argval == _NAME


class ComptimeVariable(VariableTracker):  # type: ignore[misc]
    """The module `dynascope`, its `comptime`, or a method of that; a new one for each use."""

    _nonvar_fields = {"what", "answer", *VariableTracker._nonvar_fields}  # noqa: RUF012

    def __init__(self, what: str, answer: Call, **options: Any) -> None:
        """Make the variable of `what`: "module", "comptime", or the name of a method."""
        super().__init__(**options)
        self.what, self.answer = what, answer

    def var_getattr(self, tx: Any, name: str) -> Any:
        """Return an attribute, such as `module.comptime`; called by Dynamo until 2.13."""
        if self.what == "module" and name != _NAME:
            raise NotImplementedError(name)
        return ComptimeVariable("comptime" if self.what == "module" else name, self.answer)

    tp_getattro_impl = var_getattr
    """The name that Dynamo calls since 2.14."""

    def call_function(self, tx: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        returned = self.answer(tx, "__call__" if self.what == "comptime" else self.what, list(args), dict(kwargs))
        return ConstantVariable.create(None) if returned is None else returned

    def call_method(self, tx: Any, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.var_getattr(tx, name).call_function(tx, args, kwargs)

    def python_type(self) -> type:
        return cast("type", type(self))

    def reconstruct(self, codegen: Any) -> None:
        """Load the real object in code that Dynamo generates after a graph break."""
        codegen.load_import_from(_PACKAGE, _NAME)
        if self.what not in ("module", "comptime"):
            codegen.extend_output(codegen.create_load_attrs(self.what))


class ComptimeBreakpointHook(Events):
    """Call `stop(translator)` where `_Comptime.breakpoint` (2.1) calls `builtins.breakpoint`.

    That call is made in its function `inner`, whose local `ctx` is the user's `ComptimeContext`. Only the module's
    global `builtins` is replaced: patching `_Comptime.breakpoint` would change what is traced, and
    `sys.breakpointhook` is left alone, so that a plain `breakpoint()` keeps its meaning.
    """

    def __init__(self, stop: Callable[[Any], None]) -> None:
        super().__init__()

        def breakpoint_(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            context = sys._getframe(2).f_locals.get("ctx")
            translator = None if context is None else translator_of(context)
            return original(*args, **kwargs) if translator is None else stop(translator)

        self.call_instead(torch_names.COMPTIME_BUILTINS, breakpoint_)


def translator_of(context: Any) -> Any | None:
    """Return the translator of a `ComptimeContext` (its private `__tx`, 2.1)."""
    return vars(context).get("_ComptimeContext__tx")
