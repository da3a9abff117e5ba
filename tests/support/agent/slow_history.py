"""The history of every value the slow way: around each step of Dynamo, everything is looked at again.

Nothing is shared with the agent's recording: Dynamo's own `step` is wrapped, and what can be seen in all frames is
compared with what could be seen before it.
"""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch._dynamo import symbolic_convert
from torch._dynamo.variables import constant

Line = tuple[str, int]
"""A file and a line."""
_CONTAINERS = ("BaseListVariable", "ConstDictVariable", "SetVariable", "DequeVariable")
_PARTS = ("_base_vt", "_dict_vt", "_list_vt", "_set_vt", "_tuple_vt")
"""The contents of a subclass of a container: the first since torch 2.12, the others in 2.11."""
_SHARED = {id(value) for value in vars(constant).values()}


def names_of(variable: Any) -> list[str]:
    return [each.__name__ for each in type(variable).__mro__]


def fields(variable: Any) -> dict[str, Any]:
    found: dict[str, Any] = object.__getattribute__(variable, "__dict__")
    return found


def realised(variable: Any) -> Any:
    while "LazyVariableTracker" in names_of(variable):
        inside = vars(fields(variable)["_cache"]).get("vt")
        if inside is None:
            return variable
        variable = inside
    return variable


def contents(variable: Any, effects: Any, depth: int = 0) -> Any:
    """What is in a container or was set in an object, how often a tensor was written to; None for anything else."""
    variable = realised(variable)
    kinds, known = names_of(variable), fields(variable)
    parts = [known[name] for name in _PARTS if known.get(name) is not None]
    if parts:  # a subclass of a container
        return contents(parts[0], effects, depth)
    if "TensorVariable" in kinds:
        example = known["proxy"].node.meta.get("example_value")
        if depth or not isinstance(example, torch.Tensor) or example.is_inference():
            return None
        return example._version, len(effects.store_attr_mutations.get(variable) or ())
    is_container = set(kinds) & set(_CONTAINERS)
    if known.get("mutation_type") is not None and not is_container and "CellVariable" not in kinds:
        written = effects.store_attr_mutations.get(variable) or {}
        return None if depth else {name: id(value) for name, value in written.items()}
    if depth > 3 or not is_container or (depth and known["source"] is not None):
        return None
    items = known["items"]
    if isinstance(items, dict):
        return [(_identity(key), _identity(value), contents(value, effects, depth + 1)) for key, value in items.items()]
    return [(_identity(item), contents(item, effects, depth + 1)) for item in items]


def _value(variable: Any) -> int:
    """The identity of a value: an input is known by its source, in whatever variable Dynamo has it."""
    source = fields(variable)["source"]
    return id(variable) if source is None else hash(source.name)


def _identity(item: Any) -> Any:
    """The same for a variable before and after Dynamo reads it."""
    item = vars(item)["vt"] if type(item).__name__ == "HashableTracker" else item
    source = fields(item)["source"]
    return id(item) if source is None else source.name


class SlowHistory:
    """What became of each value and name in the attempt that is traced."""

    def __init__(self) -> None:
        self.output: Any = None

    def begin(self, output: Any) -> None:
        self.output = output
        self._everything: list[Any] = []
        """All that was seen, kept so that an identity stands for one thing."""
        self._seen: set[int] = set()
        self._made: dict[int, Line] = {}
        self._bound: dict[int, dict[str, list[tuple[int, Any, Line, Line | None]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        """By frame and name: time, value (None: deleted), line; and where a constant was made."""
        self._contents: dict[int, Any] = {}
        self._changes: dict[int, list[tuple[int, Line]]] = defaultdict(list)
        self.guards: dict[int, tuple[Any, Line]] = {}
        self.symbols: dict[str, list[Line]] = defaultdict(list)
        self._symbol_states: dict[str, Any] = {}
        self._loaded: dict[int, Line] = {}
        """Where the constant was made that a variable stands for: Dynamo has one variable for all equal ones."""
        self._lines: dict[int, int] = {}
        self._line_began: dict[int, int] = {}
        """The time at which each frame came to its line."""
        self._entered: list[Any] = []
        self._stepped: Any = None
        """The frame of the latest step."""
        self._time = 0

    def look(self, frames: list[Any], line: Line) -> None:
        """Compare with what was there before; what is new belongs to `line`."""
        self._time += 1
        with torch._C.DisableTorchFunction():
            for frame in frames:
                self._look_at(frame, line)
            for variable in list(self._everything):
                now, key = contents(variable, self.output.side_effects), _value(variable)
                before = (now[0], 0) if isinstance(now, tuple) else now  # of a tensor that Dynamo has just read
                if now is not None and self._contents.setdefault(key, before) != now:
                    self._contents[key] = now
                    self._changes[key].append((self._time, line))
        for guard in self.output.guards.inner:
            self.guards.setdefault(id(guard), (guard, line))
        self._look_at_symbols(line)

    def _look_at_symbols(self, line: Line) -> None:
        environment = vars(self.output.shape_env)
        for symbol, span in environment["var_to_range"].items():
            guards = [guard for guard in environment["guards"] if symbol in guard.expr.free_symbols]
            state = str(environment["replacements"].get(symbol)), str(span), len(guards)
            if self._symbol_states.get(str(symbol)) != state:
                self._symbol_states[str(symbol)] = state
                self.symbols[str(symbol)].append(line)

    def _look_at(self, frame: Any, line: Line) -> None:
        for variable in frame.stack:
            self._see(variable, line)
        bound = self._bound[id(frame)]
        if frame.lineno != self._lines.get(id(frame)):
            self._lines[id(frame)], self._line_began[id(frame)] = frame.lineno, self._time
        for name, variable in frame.symbolic_locals.items():
            if type(variable).__name__ == "CellVariable":
                variable = self._in_cell(variable)
                if variable is None:
                    continue
            self._see(variable, line)
            if not bound[name] or realised(bound[name][-1][1]) is not realised(variable):
                if bound[name] and bound[name][-1][0] >= self._line_began[id(frame)]:
                    bound[name].pop()  # a loop within one line
                bound[name].append((self._time, variable, line, self._loaded.get(id(variable))))
        for name in bound.keys() - frame.symbolic_locals.keys():
            if bound[name][-1][1] is not None:
                bound[name].append((self._time, None, line, None))

    def _in_cell(self, cell: Any) -> Any:
        written = self.output.side_effects.store_attr_mutations.get(cell) or {}
        return written.get("cell_contents", fields(cell)["pre_existing_contents"])

    def _see(self, variable: Any, line: Line) -> None:
        if id(variable) not in self._seen:
            self._seen.add(id(variable))
            self._everything.append(variable)
            self._made.setdefault(_value(variable), line)

    def _note_constant(self, frame: Any, instruction: Any) -> None:
        top = frame.stack[-1] if frame.stack else None
        if top is None or type(top).__name__ != "ConstantVariable" or fields(top)["source"] is not None:
            return
        bound = self._bound[id(frame)].get(instruction.argval) if instruction.opname.startswith("LOAD_FAST") else None
        if instruction.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            self._loaded[id(top)] = _line(frame)
        elif bound and bound[-1][3] is not None:
            self._loaded[id(top)] = bound[-1][3]

    def guards_kept(self) -> list[tuple[Any, Line]]:
        """The guards and their lines, without those that Dynamo has taken back."""
        kept = {id(guard) for guard in self.output.guards.inner}
        return [known for identity, known in self.guards.items() if identity in kept]

    def of_name(self, frame: Any, name: str) -> tuple[Counter[tuple[Line, str]], set[Line]]:
        """How often each line made, read or deleted a value of this name, and the lines that changed one in place."""
        bindings = self._bound[id(frame)][name]
        ends = [time for time, *_ in bindings[1:]] + [self._time + 1]
        made: dict[tuple[int, int], tuple[Line, str]] = {}
        changed: set[Line] = set()
        for (time, value, line, loaded), end in zip(bindings, ends, strict=True):
            if value is None:
                made[time, 0] = line, "deleted"
                continue
            is_input, key = fields(value)["source"] is not None, _value(value)
            when, where = (time, line) if id(value) in _SHARED else (0, loaded or self._made[key])
            made[when, hash((key, loaded))] = where, "input" if is_input else "made"
            changed |= {at for when, at in self._changes[key] if when < end and at != where}
        return Counter(made.values()), changed - {line for line, _ in made.values()}

    @contextlib.contextmanager
    def watching(self) -> Iterator[SlowHistory]:
        """Look before and after each step of Dynamo."""
        original = symbolic_convert.InstructionTranslatorBase.step

        def step(translator: Any) -> Any:
            if self.output is not translator.output:
                self.begin(translator.output)
            frames = _frames(translator)
            if translator not in self._entered or translator is not self._stepped:
                caller = _line(frames[-2] if len(frames) > 1 else translator)
                self.look(frames[:-1], caller)
                for argument in translator.symbolic_locals.values():
                    self._see(argument, caller)
                self._entered.append(translator)
                self.look(frames, _line(translator))
            instruction = translator.instructions[translator.instruction_pointer]
            try:
                return original(translator)
            finally:
                self._stepped = translator
                self._note_constant(translator, instruction)
                self.look(_frames(translator), _line(translator))

        with mock.patch.object(symbolic_convert.InstructionTranslatorBase, "step", step):
            yield self


def _frames(translator: Any) -> list[Any]:
    return list(translator.output._current_tx)


def _line(translator: Any) -> Line:
    """The line a frame is at; one that has not begun is at its definition. What no line calls is at its caller's."""
    while _stands_for_builtin(translator.f_code) and translator.parent is not None:
        translator = translator.parent
    line = translator.lineno
    return translator.f_code.co_filename, line if line and line > 0 else translator.f_code.co_firstlineno


def _stands_for_builtin(code: Any) -> bool:
    is_attribute = code.co_filename.endswith("torch/nn/modules/module.py") and code.co_name.endswith("attr__")
    return is_attribute or "/torch/_dynamo/polyfills/" in code.co_filename or code.co_filename == "<string>"
