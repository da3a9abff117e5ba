"""The program to debug and its settings: the terminal's launch configuration."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

_ALL_RANKS = 1 << 30


@dataclass(frozen=True)
class DebuggedProgram:
    """A script, a module or a piece of code with its arguments, or a program that runs already.

    `to_launch` turns it into a DAP `launch` request, `to_attach` into an `attach` request.
    """

    kind: Literal["program", "module", "code", "process", "address"]
    target: str
    """The file, name or text; of a running program the process id, or `HOST:PORT` of `dynascope.listen()`."""
    arguments: tuple[str, ...] = ()
    runtime: bool = True
    just_my_code: bool = True
    stop_on_entry: bool = False
    debug_dynamo: bool = False
    record: bool = True
    environment: dict[str, str] = field(default_factory=dict)
    compiled_autograd: str | None = None
    """The backend that compiles the program's backwards; None leaves compiled autograd to the program."""
    is_job: bool = False
    """Whether the program is torchrun, whose ranks are debugged."""
    rank: int | None = None
    """The rank to debug of a job; None: all."""
    token: str | None = None
    """The token of `dynascope.listen()`; None: that of the file which it leaves on this machine."""
    has_terminal: bool = True
    """Whether it writes to this process's own stdout and stderr; else its output comes in `output` events."""

    @property
    def name(self) -> str:
        """Return its name for users: `train.py`, `-m package.train`, `torchrun`, `process 123`."""
        if self.is_job:
            return "torchrun"
        if self.kind == "program":
            return os.path.basename(self.target)
        if self.ran_before:
            return f"process {self.target}" if self.kind == "process" else f"the program at {self.target}"
        return f"-m {self.target}" if self.kind == "module" else "-c …"

    @property
    def ran_before(self) -> bool:
        """Whether it runs already, and goes on when the session ends."""
        return self.kind in ("process", "address")

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
            "stopOnEntry": self.stop_on_entry,
            **self._settings(),
        }

    def to_attach(self) -> dict[str, Any]:
        """Return the arguments of a DAP `attach` request."""
        host, _, port = self.target.rpartition(":")
        where: dict[str, Any] = {"processId": int(self.target)} if self.kind == "process" else {}
        if not where:
            where = {"connect": {"host": host.strip("[]") or "127.0.0.1", "port": int(port)}}
            where |= {"token": self.token} if self.token else {}
        return {"type": "dynascope", "request": "attach", "name": self.name, **where, **self._settings()}

    def _settings(self) -> dict[str, Any]:
        return {
            "runtime": self.runtime,
            "justMyCode": self.just_my_code,
            "debugDynamo": self.debug_dynamo,
            "record": self.record,
            "compiledAutograd": self.compiled_autograd or False,
            # a prompt debugs one process or the ranks of a job; other child processes run on undebugged
            "subProcess": self.is_job,
            # where some ranks are not debugged, their time-outs would stay
            **({} if self.is_job and self.rank is None else {"raiseTimeouts": False}),
            # the prompt gets `startDebugging` for each rank, and refuses the ranks that it does not debug
            **({} if self.rank is None else {"rankSessions": _ALL_RANKS}),
            "showReturnValue": True,
        }
