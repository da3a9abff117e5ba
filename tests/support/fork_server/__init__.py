"""Servers that have imported torch, or Dynascope's own tools, and fork the processes of tests.

Most of a test's time would be spent on importing: `import torch`, `torch._dynamo` and Inductor take 3 to 7 seconds of
a processor, the debug adapter, debugpy's, the language server and the terminal 0.1 to 0.4. A Python process that a
test starts runs `processes/sitecustomize.py` first (`search_path()`): if its program uses torch, or is one of these
tools, it hands its command line, environment, folder and open files to a server and waits. The server forks; the child
puts the imported modules out of `sys.modules` and runs the program as `python` would. When the program imports them, it
gets the modules that are there, through the finders of `sys.meta_path` as ever. Signals are passed on, and the waiting
process ends as the child does.

Such a program has another process id and parent than the process that the test has started, and its modules are not
executed when it imports them. A test of those things is marked `real_processes`. Tests on a GPU use no server either:
CUDA cannot be used in a process that is forked from one in which it was asked for, as Inductor does at its import.
"""

from __future__ import annotations

import functools
import importlib.util
import marshal
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS, TOOLS = "FORK_SERVER_OF_PROGRAMS", "FORK_SERVER_OF_TOOLS"
"""The variables that name the servers' sockets, here and in sitecustomize.py; processes are as ever without them."""
HERE = Path(__file__).parent
PROCESSES = str(HERE / "processes")
PACKAGES = [str(Path(__file__).parents[3] / name) for name in ("adapter", "lsp")]


class ForkServer:
    """A server's process. It imports what its programs need when the first of them comes."""

    def __init__(self, kind: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="dynascope-fork-server-")
        self.address = os.path.join(self._folder, "socket")
        clean = {name: text for name, text in os.environ.items() if not name.startswith(("PYTHON", "DYNASCOPE_"))}
        command = [
            sys.executable,
            "-X",
            "frozen_modules=off",
            "-P",
            compiled(HERE / "server.py", "<frozen runpy>", self._folder),
            compiled(HERE / "modules.py", "<frozen importlib._put_away>", self._folder),
            compiled(HERE.parent / "torch_in_servers.py", "<frozen torch_in_servers>", self._folder),
            self.address,
            os.pathsep.join([*PACKAGES, *_inherited_path()]),
            kind,
        ]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean, start_new_session=True
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()  # it listens

    def end(self) -> None:
        self._process.communicate()  # it ends when its standard input does
        shutil.rmtree(self._folder, ignore_errors=True)


def compiled(path: Path, name: str, folder: str) -> str:
    """Compile a module of the server under a name of Python's own, which debuggers and tracebacks leave out."""
    target = Path(folder) / f"{path.stem}.pyc"
    code = compile(path.read_text(), name, "exec", dont_inherit=True)
    target.write_bytes(importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    return str(target)


@functools.cache
def wait_for_modules(address: str) -> None:
    """Wait until a server has imported what its programs need."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


def wait_for_modules_of_programs() -> None:
    """Wait for the modules of programs under test, where they are forked; before a launch, which has a time limit."""
    if address := os.environ.get(PROGRAMS):
        wait_for_modules(address)


def can_be_used() -> bool:
    """Whether a process can be forked for another here: it needs Linux, and no libraries loaded in advance."""
    return hasattr(os, "pidfd_open") and "LD_PRELOAD" not in os.environ


def search_path() -> str:
    """Return PYTHONPATH for a process under test: this checkout's packages, and sitecustomize.py where it is used."""
    processes = [PROCESSES] if can_be_used() else []  # else another's sitecustomize.py may be on the path
    return os.pathsep.join(dict.fromkeys([*processes, *PACKAGES, *_inherited_path()]))


def _inherited_path() -> list[str]:
    """Return the folders that PYTHONPATH names, where an environment keeps its packages there."""
    return [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
