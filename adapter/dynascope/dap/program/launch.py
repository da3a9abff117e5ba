"""Start a program without debugpy: in the client's terminal, or as a child whose output becomes `output` events."""

from __future__ import annotations

import asyncio
import codecs
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from dynascope.dap.program import injected_source, terminal_launch
from dynascope.dap.protocol.call import RequestError, cause
from dynascope.dap.protocol.launch_arguments import LaunchArguments

_RUNPY = Path(injected_source.origin("dynascope")).parent / "agent" / "session" / "startup" / "runpy.py"
SHALLOW_START = ["-X", "frozen_modules=off", str(_RUNPY)]
"""The start of debugpy's command line: the script starts debugpy, and the program with few outer frames."""
WITH_AGENT, WITHOUT_AGENT = 40, 41
"""Exit codes of `PROBE` that only a Python gives: `/bin/true` exits with 0 for any arguments."""
PROBE = (
    "import importlib.util as u; "
    f"raise SystemExit({WITH_AGENT} if all(map(u.find_spec, {injected_source.BORROWED})) else {WITHOUT_AGENT})"
)
PROBE_TIMEOUT = 30.0
DRAIN_TIMEOUT = 0.5
"""Seconds to wait for output after the program's end, from children that keep its pipes open."""


def with_absolute_paths(arguments: LaunchArguments) -> LaunchArguments:
    """Make `cwd` and `program` (relative to `cwd`) absolute, so that no chdir changes them."""
    cwd = os.path.abspath(arguments.cwd) if arguments.cwd else None
    program = os.path.abspath(os.path.join(cwd or "", arguments.program)) if arguments.program else arguments.program
    return msgspec.structs.replace(arguments, cwd=cwd, program=program)


async def check(arguments: LaunchArguments) -> None:
    """Raise RequestError naming a wrong argument, for which debugpy would wait a minute."""
    check_paths(arguments)
    # without `pythonArgs`: they may name the program (`-m torch.distributed.run`)
    python = python_command(arguments)
    if python != [sys.executable]:
        await _has_agent(python, arguments)


def check_paths(arguments: LaunchArguments) -> None:
    """Raise RequestError when `cwd` or `program` does not exist."""
    if arguments.cwd is not None and not os.path.isdir(arguments.cwd):
        raise RequestError(
            f"The folder to run in does not exist: {arguments.cwd}. Correct `cwd` in the launch configuration."
        )
    if arguments.program is not None and not os.path.exists(arguments.program):
        raise RequestError(
            f"The program does not exist: {arguments.program}. Correct `program` in the launch configuration."
        )


def python_command(arguments: LaunchArguments) -> list[str]:
    """Return `python` as a list; the default is the adapter's own interpreter."""
    python = arguments.python or arguments.python_path or sys.executable
    return [python] if isinstance(python, str) else python


def interpreter(arguments: LaunchArguments) -> list[str]:
    """Return the command that runs Python, with its `pythonArgs`."""
    return [*python_command(arguments), *arguments.python_args]


def working_folder(arguments: LaunchArguments) -> str:
    """Return `cwd`, else the program's folder, as debugpy does."""
    return arguments.cwd or (os.path.dirname(arguments.program) if arguments.program else "") or os.getcwd()


def target(arguments: LaunchArguments) -> list[str]:
    """Return the command line after the interpreter. Raises RequestError for invalid `args`."""
    if arguments.module is not None:
        start = ["-m", arguments.module]
    elif arguments.code is not None:
        start = ["-c", arguments.code if isinstance(arguments.code, str) else "\n".join(arguments.code)]
    else:
        assert arguments.program is not None
        start = [arguments.program]
    try:
        words = shlex.split(arguments.args) if isinstance(arguments.args, str) else arguments.args
    except ValueError as error:
        raise RequestError(f"`args` cannot be split into words as a shell would: {error}.") from None
    return [*start, *words]


async def command_line(arguments: LaunchArguments) -> list[str]:
    """Return the whole command that runs the program with an agent. Raises RequestError."""
    python, program = interpreter(arguments), target(arguments)
    if await _has_agent(python, arguments):
        return [*python, "-m", "dynascope.agent.session.startup.launcher", *program]
    return [*python, "-c", injected_source.launcher_source(), *program]


def environment(arguments: LaunchArguments, ours: dict[str, str]) -> dict[str, str | None]:
    """Return the changes of the environment: `env`, then `ours`. None removes a variable.

    A program that runs without a debugger records itself (`dynascope.autoload`), unless `record` is false.
    """
    records: dict[str, str | None] = {}
    if arguments.no_debug and arguments.record:
        records["DYNASCOPE_RECORD"] = arguments.record if isinstance(arguments.record, str) else "1"
    return records | arguments.env | ours


async def _has_agent(python: list[str], arguments: LaunchArguments) -> bool:
    try:
        probe = await asyncio.create_subprocess_exec(
            *python,
            "-c",
            PROBE,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=_merged(arguments.env),
            cwd=working_folder(arguments),
        )
    except OSError as error:
        raise RequestError(
            f"The interpreter {python[0]} cannot be started: {cause(error)}. "
            "Correct `python` in the launch configuration."
        ) from None
    try:
        _, errors = await asyncio.wait_for(probe.communicate(), PROBE_TIMEOUT)
    except TimeoutError:
        probe.kill()
        raise RequestError(
            f"{' '.join(python)} did not start within {PROBE_TIMEOUT:.0f} seconds. "
            "Correct `python` in the launch configuration."
        ) from None
    if probe.returncode not in (WITH_AGENT, WITHOUT_AGENT):
        output = errors.decode(errors="replace").strip()[-500:] or f"running a line, it exited with {probe.returncode}"
        raise RequestError(
            f"{' '.join(python)} is not a working Python ({output}). Correct `python` in the launch configuration."
        )
    return probe.returncode == WITH_AGENT


def _merged(changes: dict[str, str | None]) -> dict[str, str]:
    merged = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


class Child:
    """The program as a child process of the adapter."""

    def __init__(self, process: asyncio.subprocess.Process, on_output: Callable[[str, str], Any]) -> None:
        """Await `on_output` with the category ("stdout", "stderr") and a piece of text."""
        self.process = process
        assert process.stdout is not None and process.stderr is not None
        self._readers = [
            asyncio.ensure_future(_copy(process.stdout, "stdout", on_output)),
            asyncio.ensure_future(_copy(process.stderr, "stderr", on_output)),
        ]

    @classmethod
    async def start(
        cls, command: list[str], folder: str, changes: dict[str, str | None], on_output: Callable[[str, str], Any]
    ) -> Child:
        """Start the command in `folder`. Raises RequestError when it cannot be started."""
        # like debugpy's launcher: unbuffered, or output would come in blocks; UTF-8, because it is decoded here
        unbuffered: dict[str, str | None] = {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=folder,
                env=_merged(unbuffered | changes),
                start_new_session=True,
            )
        except OSError as error:
            raise RequestError(f"{command[0]} cannot be started: {cause(error)}.") from None
        return cls(process, on_output)

    async def wait(self) -> int:
        """Wait for its end and its output; return the exit code (128 + signal, as in shells)."""
        code = await self.process.wait()
        await asyncio.wait(self._readers, timeout=DRAIN_TIMEOUT)
        for reader in self._readers:
            reader.cancel()
        return code if code >= 0 else 128 - code


class TerminalChild:
    """The program as a child of the client's terminal; `terminal_launch` reports its end over a socket in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._path = str(folder / "exit")
        self._code: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None

    async def command(self, program: list[str]) -> list[str]:
        """Return the command that runs `program` in the terminal."""
        self._server = await asyncio.start_unix_server(self._connected, self._path)
        return [sys.executable, terminal_launch.__file__, self._path, *program]

    async def wait(self) -> int | None:
        """Wait for the program's exit code; None if `terminal_launch` ended without sending it."""
        return await self._code

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self._server is not None
        self._server.close()
        try:
            line = await reader.readline()
        except OSError:
            line = b""
        writer.close()
        if not self._code.done():
            self._code.set_result(int(line) if line.strip().isdigit() else None)


async def _copy(stream: asyncio.StreamReader, category: str, on_output: Callable[[str, str], Any]) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    while data := await stream.read(1 << 16):
        if text := decoder.decode(data):
            await on_output(category, text)
    if text := decoder.decode(b"", final=True):
        await on_output(category, text)
