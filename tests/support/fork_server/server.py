"""Import torch, then fork a process for each program that sitecustomize.py hands over."""

from __future__ import annotations

import atexit
import gc
import importlib
import importlib.machinery
import inspect
import io
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import types
from collections.abc import Callable
from importlib.machinery import SourcelessFileLoader
from pathlib import Path
from typing import Any

IMPORTED = {
    "FORK_SERVER_OF_PROGRAMS": ("torch", "torch._dynamo", "torch._inductor.compile_fx", "debugpy.server.cli"),
    "FORK_SERVER_OF_TOOLS": (
        "dynascope.dap.server",
        "dynascope.debugpy_injector",
        "dynascope.debugpy_launcher",
        "dynascope.wire.token_server",
        "dynascope.terminal.command",
        "dynascope.terminal.prompt",
        "dynascope_lsp.server",
        "debugpy.adapter.clients",
        "debugpy.launcher.handlers",
        "psutil",
    ),
}
"""Not on the command line, where the adapter would see a process of Inductor's."""
_, OTHER_MODULE, TORCH, ADDRESS, PACKAGES, KIND = sys.argv
ADAPTER = Path(PACKAGES.partition(os.pathsep)[0])
AGENT = ADAPTER / "dynascope" / "agent"
put_away_modules: Any = types.ModuleType("put_away_modules")
SourcelessFileLoader("put_away_modules", OTHER_MODULE).exec_module(put_away_modules)
torch_in_servers: Any = types.ModuleType("torch_in_servers")
SourcelessFileLoader("torch_in_servers", TORCH).exec_module(torch_in_servers)
Start = Callable[[], object]


class Server:
    """Forks a process for each connection, passes signals on to it, and tells how it has ended."""

    def __init__(self, address: str) -> None:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(64)
        self._selector = selectors.DefaultSelector()
        self._selector.register(0, selectors.EVENT_READ, self._end)
        self._selector.register(self._listener, selectors.EVENT_READ, self._fork)
        self._children: dict[socket.socket, int] = {}
        self._own = set(sys.modules)
        self._put_away: Any = None

    def serve(self) -> Start:
        """Serve until standard input ends; in a child, return the function that runs its program."""
        while True:
            for key, _ in self._selector.select():
                start = key.data()
                if start is not None:
                    return start

    def _end(self) -> None:
        for pid in self._children.values():
            os.kill(pid, signal.SIGKILL)
        os._exit(0)

    def _fork(self) -> Start | None:
        connection, _ = self._listener.accept()
        process, files = receive(connection)
        self._put_away = self._put_away or put_away(self._own)
        if process is None:  # the client only waits for the modules
            connection.close()
            return None
        pid = os.fork()
        if pid == 0:
            self._close(connection)
            take_files(process["files"], files)
            return prepare(process, self._put_away)
        for file in files:
            os.close(file)
        self._children[connection] = pid
        descriptor = os.pidfd_open(pid)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._pass_signals_on(connection))
        self._selector.register(descriptor, selectors.EVENT_READ, lambda: self._tell_end(descriptor, connection))
        return None

    def _close(self, connection: socket.socket) -> None:
        """Leave in the child what is the server's."""
        os.setsid()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, int) and key.fd > 2:
                os.close(key.fd)
        self._selector.close()
        for each in (self._listener, connection, *self._children):
            each.close()

    def _pass_signals_on(self, connection: socket.socket) -> None:
        if connection not in self._children:
            return  # it has ended since both were seen
        try:
            numbers = connection.recv(64)
        except OSError:
            numbers = b""
        if not numbers:  # the process that waits was killed
            self._selector.unregister(connection)
        for number in numbers or [signal.SIGKILL]:
            os.kill(self._children[connection], number)

    def _tell_end(self, descriptor: int, connection: socket.socket) -> None:
        code = os.waitstatus_to_exitcode(os.waitpid(self._children.pop(connection), 0)[1])
        self._selector.unregister(descriptor)
        os.close(descriptor)
        if connection in self._selector.get_map():
            self._selector.unregister(connection)
        try:
            connection.sendall(code.to_bytes(4, "big", signed=True))
        except OSError:
            pass  # nothing waits any more
        connection.close()


def receive(connection: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Read what a process hands over: its description and open files; None if it was killed, or sends none."""
    header, files, _, _ = socket.recv_fds(connection, 8, 64)
    size, text = int.from_bytes(header, "big"), b""
    while len(text) < size and (more := connection.recv(size - len(text))):
        text += more
    if not header or len(text) < size:
        for file in files:
            os.close(file)
        return None, []
    return json.loads(text), files


def put_away(own: set[str]) -> Any:
    """Import what programs of this server need; with torch, the agent, too. Return the finder that has it."""
    gc.disable()
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    packages = PACKAGES.split(os.pathsep)
    sys.path[:0] = packages
    with put_away_modules.Recorder() as recorder:
        for name in IMPORTED[KIND]:
            importlib.import_module(name)
        for name in [*agents_modules(), *torch_in_servers.modules_of_a_compile()] if "torch" in IMPORTED[KIND] else ():
            importlib.import_module(name)
    del sys.path[: len(packages)]
    torch_in_servers.leave_out_guard_latency()
    torch_in_servers.keep_finalizers_from_the_end()
    remember_files()
    kept = own | {name for name in sys.modules if name.partition(".")[0] in sys.stdlib_module_names}
    modules = {name: module for name, module in sys.modules.items() if name not in kept}
    for name in modules:
        del sys.modules[name]
    finder = put_away_modules.PutAway(modules, recorder.brought)
    gc.freeze()
    return finder


def remember_files() -> None:
    """Have `inspect` note which file each module comes from: Dynamo asks it, and it would read links for 40 ms."""
    inspect.getmodule(put_away.__code__)


def agents_modules() -> list[str]:
    """Return the names of the agent's modules.

    Left out are those that hook Dynamo when imported (`session/api`), and those that Python runs as `__main__`.
    """
    paths = {path for path in AGENT.rglob("*.py") if path.name != "__init__.py"}
    startup = AGENT / "session" / "startup"
    left_out = {*(AGENT / "session" / "api").iterdir(), *startup.glob("*launcher.py"), startup / "runpy.py"}
    return [".".join(path.relative_to(ADAPTER).with_suffix("").parts) for path in sorted(paths - left_out)]


def take_files(numbers: list[int], files: list[int]) -> None:
    """Give the received files the numbers that they had."""
    above = max([*numbers, *files]) + 1
    moved = [os.dup2(file, above + index) for index, file in enumerate(files)]
    for file in files:
        os.close(file)
    for file, number in zip(moved, numbers, strict=True):
        os.dup2(file, number, inheritable=True)
        os.close(file)


def prepare(process: dict[str, Any], finder: Any) -> Start:
    """Make this process what the one that handed over was; return the function that runs its program."""
    os.environ.clear()
    os.environ.update(process["environment"])
    os.chdir(process["folder"])
    os.umask(process["umask"])
    for number in process["ignored"]:
        if number not in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_IGN)
    open_standard_files()
    sys.meta_path.insert(0, finder)
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    sys.path[:0] = ["", *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    sys.orig_argv[1:] = process["arguments"]
    gc.enable()
    return run_as_python_does(process["arguments"])


def open_standard_files() -> None:
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        raw = open(number, mode + "b", closefd=False, buffering=0 if unbuffered and number else -1)  # noqa: SIM115
        last = "backslashreplace" if number == 2 else errors or "strict"
        text = io.TextIOWrapper(
            raw,
            encoding or "utf-8",
            last,
            line_buffering=number == 2 or raw.isatty(),
            write_through=unbuffered,
            newline="\n" if number else None,
        )
        text.mode = mode  # type: ignore[misc]
        setattr(sys, name, text)
        setattr(sys, f"__{name}__", text)


def run_as_python_does(arguments: list[str]) -> Start:
    program = types.ModuleType("__main__")
    program.__dict__.update(__builtins__=__builtins__, __annotations__={})
    sys.modules["__main__"] = program
    match arguments:
        case ["-c", code, *more]:
            sys.argv = ["-c", *more]
            return lambda: exec(compile(code, "<string>", "exec", dont_inherit=True), vars(program))
        case ["-m", module, *more]:
            sys.argv = ["-m", *more]
            sys.path[0] = os.getcwd()
            return lambda: runpy._run_module_as_main(module)  # type: ignore[attr-defined]
        case _:
            path = arguments[0]
            sys.argv = arguments
            sys.path[0] = os.path.dirname(os.path.realpath(path))
            loader = importlib.machinery.SourceFileLoader("__main__", path)
            vars(program).update(__file__=path, __cached__=None, __spec__=None, __loader__=loader, __package__=None)
            with io.open_code(path) as file:
                source = file.read()
            return lambda: exec(compile(source, path, "exec", dont_inherit=True), vars(program))


def run(start: Start) -> None:
    """Run the program, and end as Python does.

    What the server has imported is not freed at the end: that would take longer than most programs run.
    """
    status, killed_by = ended(start)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        for file in (sys.stdout, sys.stderr):
            if not file.closed:
                file.flush()
    except (OSError, ValueError):
        status = 120
    vars(sys.modules["__main__"]).clear()
    gc.collect()
    if killed_by:
        signal.signal(killed_by, signal.SIG_DFL)
        os.kill(os.getpid(), killed_by)
    os._exit(status & 0xFF)


def ended(start: Start) -> tuple[int, int]:
    """Run the program; return its exit status, and the signal that ends it or 0."""
    try:
        start()
    except SystemExit as exited:
        if isinstance(exited.code, int | None):
            return exited.code or 0, 0
        print(exited.code, file=sys.stderr)
        return 1, 0
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == run.__code__.co_filename:
            trace = trace.tb_next
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error.with_traceback(trace), trace
        if sys.version_info >= (3, 12):
            sys.last_exc = sys.last_value
        sys.excepthook(type(error), sys.last_value, trace)
        return 1, signal.SIGINT if isinstance(error, KeyboardInterrupt) else 0
    return 0, 0


if __name__ == "__main__":
    server = Server(ADDRESS)
    print("listening", flush=True)
    run(server.serve())
