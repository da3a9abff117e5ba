"""The program to debug and its settings: the terminal's launch configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class LaunchedProgram:
    """A script, a module or a piece of code, with its arguments. `to_launch` turns it into a DAP `launch` request."""

    kind: Literal["program", "module", "code"]
    target: str
    arguments: tuple[str, ...] = ()
    runtime: bool = True
    just_my_code: bool = True
    stop_on_entry: bool = False
    debug_dynamo: bool = False
    record: bool = True
    environment: dict[str, str] = field(default_factory=dict)
    compiled_autograd: str | None = None
    """The backend that compiles the program's backwards; None leaves compiled autograd to the program."""
    rank: int | None = None
    """The rank to debug, if the program is torchrun."""
    has_terminal: bool = True
    """Whether it writes to this process's own stdout and stderr; else its output comes in `output` events."""

    @property
    def name(self) -> str:
        """Return its name for users: `train.py`, `-m package.train`, `-c …`, `torchrun`."""
        if self.rank is not None:
            return "torchrun"
        if self.kind == "program":
            return os.path.basename(self.target)
        return f"-m {self.target}" if self.kind == "module" else "-c …"

    @property
    def script(self) -> Path | None:
        """Return the file of a bare line number before the first stop; None if there is none."""
        return Path(os.path.abspath(self.target)) if self.kind == "program" else None

    def to_launch(self) -> dict[str, Any]:
        """Return the arguments of a DAP `launch` request: debugpy's and Dynascope's own."""
        return {
            "type": "dynascope",
            "request": "launch",
            "name": self.name,
            self.kind: self.target,
            "args": list(self.arguments),
            "cwd": os.getcwd(),
            "env": self.environment,
            # the program writes to the terminal itself: nothing is re-encoded, and the order of all lines is kept
            "console": "integratedTerminal" if self.has_terminal else "internalConsole",
            "redirectOutput": not self.has_terminal,
            "runtime": self.runtime,
            "justMyCode": self.just_my_code,
            "stopOnEntry": self.stop_on_entry,
            "debugDynamo": self.debug_dynamo,
            "record": self.record,
            "compiledAutograd": self.compiled_autograd or False,
            # one prompt debugs one process; other child processes run on undebugged
            "subProcess": self.rank is not None,
            "showReturnValue": True,
        }
