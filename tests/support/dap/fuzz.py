"""Random DAP requests, the same for the same seed: of the shapes in the schema, with values that fit or do not.

Left out is what changes or ends the program, so that its output has to be that of a plain run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.dap import schema

CHANGING = {
    "attach", "configurationDone", "continue", "disconnect", "goto", "initialize", "launch", "next", "pause", "restart",
    "restartFrame", "reverseContinue", "setExpression", "setVariable", "stepBack", "stepIn", "stepOut", "terminate",
    "terminateThreads", "writeMemory",
}  # fmt: skip
UNKNOWN = ["nosuch", "", "pydevdSystemInfo", "runInTerminal", "startDebugging"]
RESUMING = ["continue", "continue", "next", "stepIn", "stepOut", "stepBack"]
NUMBERS = [-1, 0, 1, 2, 3, 7, 1000, 2**30, 2**30 + 1, 2**31, 2**53, 2**63, 2**64, -(2**63), 10**30]
EXPRESSIONS = [
    "x", "y", "x.shape", "1 + 1", "(((", "y * 2", "", " ", "\x00", "é" * 5, "x" * 100_000, "what if x.shape[0] dynamic",
    "what if", "why", "guards", "guards check", "guards 0/0", "history", "y.nope", "ctx", "ctx.print_locals()", "1/0",
    "lambda: (yield)", "'a' * 1000", "forms", "__import__('nosuch')", "raise", "(" * 500 + ")" * 500, "-" * 5000 + "1",
    "checkpoint", "timeline", "watch x", "where", "\n\n", "x\ny", "if 1:\n  2", "\ud800",
]  # fmt: skip
TEXTS = [
    "repl",
    "hover",
    "watch",
    "clipboard",
    "0/0",
    "0x1",
    "graphBreak",
    "recompile",
    "statement",
    "instruction",
    "*",
]
OTHERS = [1.5, 1e308, True, None, "1", [], {}, [1], [[[]]], {"a": {"a": 1}}]


@dataclass
class Known:
    """The numbers that the adapter has given: of the last stop, and some of earlier ones."""

    threads: list[int] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)
    variables: list[int] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)


class Requests:
    """An endless iterator of requests."""

    def __init__(self, seed: int, path: Path, known: Known) -> None:
        self.random = random.Random(seed)
        self._path, self._known = path, known
        self._definitions = schema.definitions()
        names = [name.removesuffix("Request") for name in self._definitions if name.endswith("Request")]
        self._commands = sorted({name[:1].lower() + name[1:] for name in names if name} - CHANGING)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        while True:
            if self.random.random() < 0.05:
                yield self.random.choice(UNKNOWN), self._any()
                continue
            command = self.random.choice(self._commands)
            name = f"{command[:1].upper()}{command[1:]}Arguments"
            if self.random.random() < 0.03:
                yield command, self._any()
            elif command == "cancel":
                yield command, {"requestId": self.random.choice([*self._known.requests[-20:], -1, 0, 10**9])}
            else:
                yield command, self._object(self._definitions.get(name, {}))

    def _object(self, definition: dict[str, Any], depth: int = 0) -> dict[str, Any]:
        made = {}
        for part in [definition, *definition.get("allOf", [])]:
            for name, wanted in self._resolved(part).get("properties", {}).items():
                if self.random.random() < 0.8:
                    made[name] = self._value(name, wanted, depth + 1)
        return made

    def _resolved(self, wanted: dict[str, Any]) -> dict[str, Any]:
        reference = wanted.get("$ref", "").rpartition("/")[2]
        found: dict[str, Any] = self._definitions[reference] if reference else wanted
        return found

    def _value(self, name: str, wanted: dict[str, Any], depth: int) -> Any:
        wanted, choose = self._resolved(wanted), self.random.choice
        if self.random.random() < 0.15 or depth > 5:
            return self._any()
        match wanted.get("type"):
            case "integer" | "number":
                known = {"threadId": self._known.threads, "frameId": self._known.frames}.get(name)
                if name == "variablesReference":
                    known = self._known.variables
                if known and self.random.random() < 0.7:
                    return choose(known[-8:])
                return self.random.randrange(30) if name == "line" and self.random.random() < 0.7 else choose(NUMBERS)
            case "string":
                return self._text(name)
            case "boolean":
                return choose([True, False])
            case "array":
                return [self._value(name, wanted.get("items", {}), depth + 1) for _ in range(self.random.randrange(3))]
            case _:
                return self._object(wanted, depth)

    def _text(self, name: str) -> str:
        if name == "path":
            return self.random.choice([*[str(self._path)] * 4, "/nonexistent.py", "\x00", "/" + "a" * 5000, ""])
        if name in ("expression", "text", "condition", "logMessage", "hitCondition"):
            return self.random.choice(EXPRESSIONS)
        return self.random.choice([*TEXTS, str(self._path)])

    def _any(self) -> Any:
        return self.random.choice([*NUMBERS, *OTHERS, *EXPRESSIONS, str(self._path)])
