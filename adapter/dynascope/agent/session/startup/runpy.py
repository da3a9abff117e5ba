"""Run a program as `python` would, with few frames of the debugger below its own.

Dynamo extracts the stack at every node of a graph, so each of the ten frames that debugpy adds makes a compile slower.
As a script, `python runpy.py -X frozen_modules=off DEBUGPY --connect … FILE …`, this starts debugpy as its own command
line does, and runs the program from here. pydevd finds the border between program and debugger by this file's name.
Imports only the standard library: the program's interpreter may not have dynascope.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # this folder, so that its modules do not shadow those of the standard library

import functools
import gc
import importlib.machinery
import io
import os
import pkgutil
import runpy
import socket
import types
from collections.abc import Callable, Sequence
from typing import NoReturn

Start = Callable[[], object]


def run(start: Start) -> None:
    """Run the program; its exit code and traceback become those of the process."""
    gc.freeze()  # so that the program's garbage collections do not visit the debugger's objects
    gc.enable()
    try:
        start()
    except BaseException:
        _hide_our_frames()
        raise


def prepare(arguments: Sequence[str]) -> Start:
    """Set `__main__`, `sys.argv` and `sys.path[0]` for `python ARGUMENTS` (FILE …, -m …, -c …)."""
    program = types.ModuleType("__main__")
    program.__dict__.update(__builtins__=__builtins__, __annotations__={})
    sys.modules["__main__"] = program
    match arguments[0]:
        case "-m":
            sys.argv = ["-m", *arguments[2:]]
            _set_import_folder(os.getcwd())
            return _module(arguments[1], True)
        case "-c":
            sys.argv = ["-c", *arguments[2:]]
            _set_import_folder("")
            return _executing(lambda: compile(arguments[1], "<string>", "exec", dont_inherit=True), program)
        case path:
            sys.argv = list(arguments)
            return _prepare_file(path, program)


def _module(name: str, alter_argv: bool) -> Start:
    return functools.partial(runpy._run_module_as_main, name, alter_argv)  # type: ignore[attr-defined]  # `python -m`'s


def _prepare_file(path: str, program: types.ModuleType) -> Start:
    path = os.path.abspath(path)
    if os.path.isdir(path) or _is_archive(path):
        sys.path.insert(0, path)
        return _module("__main__", False)
    try:
        start = _executing(lambda: _code_of(path), program)
    except OSError as error:
        _fail(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}")
    _set_import_folder(os.path.dirname(os.path.realpath(path)))
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    program.__dict__.update(__file__=path, __cached__=None, __spec__=None, __loader__=loader, __package__=None)
    return start


def _executing(make_code: Callable[[], types.CodeType], program: types.ModuleType) -> Start:
    try:
        return functools.partial(exec, make_code(), program.__dict__)
    except SyntaxError as error:
        return functools.partial(_raise, error)  # raised in `run`, which hides the debugger's frames


def _raise(error: SyntaxError) -> NoReturn:
    raise error


def _code_of(path: str) -> types.CodeType:
    """Return the code of the program, a .pyc or source, distinguished as `python PATH` does."""
    with io.open_code(path) as file:
        content = file.read()  # once: a pipe, such as bash's `<(…)`, is empty then
    compiled: types.CodeType | None = pkgutil.read_code(io.BytesIO(content))  # type: ignore[attr-defined]  # not in typeshed
    return compile(content, path, "exec", dont_inherit=True) if compiled is None else compiled


def _is_archive(path: str) -> bool:
    import zipfile

    return os.path.isfile(path) and zipfile.is_zipfile(path)


def _fail(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(2)


def _set_import_folder(folder: str) -> None:
    """Replace `sys.path[0]`, the folder of the starting script, by the program's."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _hide_our_frames() -> None:
    """Make Python print an error's traceback from the program's first frame on."""
    previous = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
        programs = trace
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == __file__:
                programs = trace.tb_next
            trace = trace.tb_next
        previous(kind, error.with_traceback(programs), programs)

    sys.excepthook = excepthook


def _under_debugpy() -> Start:
    """Start debugpy with this command line; return the function that runs its program here."""
    gc.disable()  # until the program starts: the debugger's modules are no garbage
    sys.argv = sys.argv[3:]  # without this script, and the -X option that debugpy puts after the interpreter's own
    if key := os.environ.pop("DYNASCOPE_DEBUGPY_KEY", None):  # every user of the machine can read the command line
        sys.argv[1:1] = ["--adapter-access-token", key]
    sys.path.insert(0, os.path.dirname(sys.argv[0]))
    import debugpy  # noqa: F401  # loads pydevd, which cli needs

    del sys.path[0]
    from debugpy.common import log
    from debugpy.server import cli

    if log.log_dir is None and "--log-to" not in sys.argv:
        log.describe_environment = lambda header: None  # it reads the metadata of every installed package, for the log
    _connect_at_once()
    prepared: list[Start] = []

    def later(start: list[str]) -> None:
        prepared.append(prepare(start))

    # the only names that debugpy's `run_file` and `run_module` use of it
    cli.runpy = types.SimpleNamespace(
        run_path=lambda path, run_name: later([path, *sys.argv[1:]]),
        _run_module_as_main=lambda name, alter_argv: later(["-m", name, *sys.argv[1:]]),
    )
    cli.main()
    return prepared[0] if prepared else lambda: None


def _connect_at_once() -> None:
    """Make pydevd connect without a sleep, and send its messages at once.

    TCP would delay the second part of each message by 40 ms.
    """
    import pydevd  # type: ignore[import-not-found]

    connect, clock = pydevd.start_client, pydevd.time

    def start_client(*args: object) -> socket.socket:
        connection: socket.socket = connect(*args)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pydevd.time = types.SimpleNamespace(**{**vars(clock), "sleep": skip})
        return connection

    def skip(seconds: float) -> None:
        # it gives two threads 0.1 s to start, but Thread.start has waited for them
        pydevd.time = clock

    pydevd.start_client = start_client


if __name__ == "__main__":
    run(_under_debugpy())
