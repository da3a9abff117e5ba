"""Runs a program as `python` would, with the agent in it: `python -m dynascope.agent.launcher FILE …`.

For sessions without debugpy (`runtime: false`). Where the adapter is and the session's token come from the environment
and are taken out of it. The program starts when the adapter says `ConfigurationDone`; if the adapter vanishes, it ends.
"""

from __future__ import annotations

import importlib.machinery
import io
import os
import pkgutil
import runpy
import sys
import types
from typing import NoReturn

from dynascope.agent import bootstrap
from dynascope.agent.processes import end_with_children
from dynascope.wire import channel

_USAGE = "usage: python -m dynascope.agent.launcher (FILE | -m MODULE | -c CODE) [ARGUMENT ...]"


def main() -> None:
    """Connect, wait for the configuration, run. Ends with the program's own exit code and traceback."""
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] in ("-m", "-c") and len(arguments) < 2):
        sys.exit(_USAGE)
    address, token = os.environ.pop(channel.ADDRESS_VARIABLE, None), os.environ.pop(channel.TOKEN_VARIABLE, None)
    if not address or not token:
        sys.exit(
            f"dynascope: the adapter starts this; {channel.ADDRESS_VARIABLE} and {channel.TOKEN_VARIABLE} are not set."
        )
    try:
        connection = channel.connect(address)
        connection.sendall(token.encode() + b"\n")
    except (OSError, ValueError) as error:
        sys.exit(f"dynascope: the adapter at {address} does not answer: {error}")
    agent = bootstrap.serve(connection, on_lost=end_with_children, runtime=False)
    agent.configured.wait()
    try:
        run_program(arguments)
    except BaseException:
        hide_our_frames()
        raise


def run_program(arguments: list[str]) -> None:
    program = types.ModuleType("__main__")
    program.__dict__.update(__builtins__=__builtins__, __annotations__={})
    sys.modules["__main__"] = program
    match arguments[0]:
        case "-m":
            sys.argv = ["-m", *arguments[2:]]
            _set_import_folder(os.getcwd())
            runpy._run_module_as_main(arguments[1])  # type: ignore[attr-defined]  # what `python -m` itself calls
        case "-c":
            sys.argv = ["-c", *arguments[2:]]
            _set_import_folder("")
            exec(compile(arguments[1], "<string>", "exec", dont_inherit=True), program.__dict__)
        case path:
            sys.argv = arguments
            _run_file(path, program)


def _run_file(path: str, program: types.ModuleType) -> None:
    path = os.path.abspath(path)
    if os.path.isdir(path) or _is_archive(path):
        sys.path.insert(0, path)
        runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]
        return
    try:
        code = _code_of(path)
    except OSError as error:
        _fail(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}")
    _set_import_folder(os.path.dirname(os.path.realpath(path)))
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    program.__dict__.update(__file__=path, __cached__=None, __spec__=None, __loader__=loader, __package__=None)
    exec(code, program.__dict__)


def _code_of(path: str) -> types.CodeType:
    """The program, compiled already (.pyc) or as source, the way `python PATH` tells them apart."""
    with io.open_code(path) as file:
        compiled: types.CodeType | None = pkgutil.read_code(file)  # type: ignore[attr-defined]  # not in typeshed
    if compiled is not None:
        return compiled
    with io.open_code(path) as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


def _is_archive(path: str) -> bool:
    import zipfile

    return os.path.isfile(path) and zipfile.is_zipfile(path)


def _fail(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(2)


def _set_import_folder(folder: str) -> None:
    """The program's `sys.path[0]`, in the place of what `-m dynascope.agent.launcher` has put there."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def hide_our_frames() -> None:
    """Let Python print an error's traceback from the program's first frame on."""
    shown = sys.excepthook

    def excepthook(kind: type[BaseException], error: BaseException, trace: types.TracebackType | None) -> None:
        programs = trace
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == __file__:
                programs = trace.tb_next
            trace = trace.tb_next
        shown(kind, error.with_traceback(programs), programs)

    sys.excepthook = excepthook


if __name__ == "__main__":
    main()
